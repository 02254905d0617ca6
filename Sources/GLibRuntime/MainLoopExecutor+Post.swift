internal import CGLib

extension MainLoopExecutor {
    /// Runs `body` on this executor's thread soon; callable from any thread, also where nothing can be awaited.
    package func post(_ body: @escaping @Sendable () -> Void) {
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        // The source owns the box until its destroy notify; it runs once.
        g_source_set_callback(
            source,
            { data in
                guard let data else { return gboolean(0) }
                Unmanaged<PostedBody>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.body() }
                return gboolean(0)
            }, Unmanaged.passRetained(PostedBody(body)).toOpaque(),
            { data in
                guard let data else { return }
                Unmanaged<PostedBody>.fromOpaque(data).release()
            })
        g_source_attach(source, mainContext)
        g_source_unref(source)
    }
}

private final class PostedBody: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}
