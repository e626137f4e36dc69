/// How long a request may take.
///
/// Each is counted from the request's start.
package struct CurlTimeouts: Hashable, Sendable {
    /// For finding the host's addresses.
    package var resolve: Duration
    /// For having a connection: lookup, TCP and TLS together.
    package var connect: Duration
    /// For everything, to the answer's last byte.
    package var total: Duration

    /// 5, 10 and 30 seconds unless set otherwise.
    ///
    /// Below a millisecond counts as a millisecond.
    package init(
        resolve: Duration = .seconds(5), connect: Duration = .seconds(10), total: Duration = .seconds(30)
    ) {
        self.resolve = resolve
        self.connect = connect
        self.total = total
    }
}
