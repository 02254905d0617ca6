/// A binary heap: the smallest element first.
struct Heap<Element: Comparable> {
    /// The elements in heap order.
    private(set) var elements: [Element] = []

    /// The smallest element.
    var first: Element? { elements.first }

    /// Adds an element, which costs the logarithm of the count.
    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the smallest element, which costs the logarithm of the count.
    mutating func removeFirst() {
        guard let last = elements.popLast(), !elements.isEmpty else { return }
        elements[0] = last
        siftDown(from: 0)
    }

    /// Removes the elements that are not to be kept, which costs the count.
    mutating func removeAll(where isOut: (Element) -> Bool) {
        elements.removeAll(where: isOut)
        for parent in (0..<(elements.count / 2)).reversed() { siftDown(from: parent) }
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            let left = 2 * parent + 1
            guard left < elements.count else { return }
            let right = left + 1
            let child = right < elements.count && elements[right] < elements[left] ? right : left
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            parent = child
        }
    }
}

extension Heap: Sendable where Element: Sendable {}
