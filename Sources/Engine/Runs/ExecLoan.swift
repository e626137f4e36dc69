package import Performing

/// What a wrapped command brings along that is kept in memory alone, until its run has ended.
package struct ExecLoan: Hashable, Sendable {
    /// Its whole environment, secrets and all.
    package var environment: [String: String]
    /// The file mode mask; nil: the warden's.
    package var umask: UInt32?
    /// The token under which somebody offered streams to the warden.
    package var attachment: String?
    /// The size of the terminal it is given; nil: it gets none.
    package var terminal: TerminalSize?

    package init(
        environment: [String: String], umask: UInt32? = nil, attachment: String? = nil,
        terminal: TerminalSize? = nil
    ) {
        self.environment = environment
        self.umask = umask
        self.attachment = attachment
        self.terminal = terminal
    }

    /// The order with all of that.
    func applied(to order: ProcessOrder) -> ProcessOrder {
        var order = order
        order.umask = umask ?? order.umask
        order.attachment = attachment
        order.pty = terminal
        if terminal != nil { order.stdin = .pty }
        return order
    }
}
