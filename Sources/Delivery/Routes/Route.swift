/// One line of `routes:`: what happens, and the channels that are notified.
package struct Route: Hashable, Sendable {
    /// What must happen; one of these is enough.
    package var when: Set<RouteWord>
    /// The names of the channels, in order.
    package var to: [String]

    /// A route.
    package init(when: Set<RouteWord>, to: [String]) {
        self.when = when
        self.to = to
    }
}
