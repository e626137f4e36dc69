/// How many connections of each kind a door holds at once.
package struct ConnectionLimits: Hashable, Sendable {
    /// Connections whose next request is awaited, read or answered.
    package var requests = 256
    /// Connections whose answer is a stream, such as one that follows events.
    package var streams = 2048
    /// Connections that are refused, and are closed within a second.
    package var refusals = 64

    /// The usual limits.
    package init() {}

    /// As many as fit into `descriptors`, at most the usual ones.
    package init(within descriptors: Int) {
        requests = max(16, min(requests, descriptors / 2))
        refusals = min(refusals, requests / 4)
        streams = max(8, min(streams, descriptors - requests - refusals))
    }

    var all: Int { requests + streams + refusals }
}

/// How long a door waits for the other side.
package struct ConnectionPatience: Hashable, Sendable {
    /// For the whole head of a request, from the start of the connection or the end of the answer before.
    package var head: Duration = .seconds(10)
    /// For the rest of a request.
    package var body: Duration = .seconds(30)
    /// For a whole answer to be read; a stream may be read as slowly as its reader likes.
    package var answer: Duration = .seconds(60)
    /// For the end of a connection that is refused: who still writes a request then reads the refusal.
    package var refusal: Duration = .seconds(1)

    /// The usual times.
    package init() {}
}
