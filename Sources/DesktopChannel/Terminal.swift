/// How a terminal is opened on the desktop.
package struct Terminal: Sendable {
    /// Whether there is one, and a screen for it, at this moment.
    package let isThere: @Sendable () -> Bool
    /// Opens one in which `belfry` runs with these arguments; a token lets it come to the front.
    ///
    /// Returns why it was not opened; nil: it was.
    package let open: @Sendable (_ arguments: [String], _ activationToken: String?) async -> String?

    /// A way to open terminals.
    package init(
        isThere: @escaping @Sendable () -> Bool,
        open: @escaping @Sendable (_ arguments: [String], _ activationToken: String?) async -> String?
    ) {
        self.isThere = isThere
        self.open = open
    }
}
