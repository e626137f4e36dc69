/// First in, first out.
///
/// - Complexity: O(1), amortised, but for ``prepend(_:)`` where nobody has left yet.
struct Fifo<Element> {
    private var elements: [Element] = []
    private var start = 0

    init() {}

    init(_ elements: some Sequence<Element>) {
        self.elements = Array(elements)
    }

    var isEmpty: Bool { start == elements.count }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func append(contentsOf more: some Sequence<Element>) {
        elements.append(contentsOf: more)
    }

    mutating func prepend(_ element: Element) {
        if start > 0 {
            start -= 1
            elements[start] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        if start > 32, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}
