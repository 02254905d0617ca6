extension TaskGroup {
    /// Adds a child task that lives on the main loop: it begins there and is resumed there, as its own children are,
    /// without a change of thread.
    ///
    /// A closure marked `@MainLoop` in a call of `addTask` from the main loop is refused by the compiler (Swift 6.3:
    /// "pattern that the region-based isolation checker does not understand"); as an argument of this type it is not.
    package mutating func addLoopTask(_ operation: @escaping @MainLoop @Sendable () async -> ChildTaskResult) {
        addTask(executorPreference: MainLoop.executor, operation: operation)
    }
}

extension DiscardingTaskGroup {
    /// Adds a child task that lives on the main loop, as `TaskGroup.addLoopTask` does.
    package mutating func addLoopTask(_ operation: @escaping @MainLoop @Sendable () async -> Void) {
        addTask(executorPreference: MainLoop.executor, operation: operation)
    }
}
