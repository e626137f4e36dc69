/// Decides which addresses a request may talk to.
///
/// It is asked with the very address a socket is about to be connected to, and again with the address of
/// a kept connection before that is used: a name that changes its mind between two lookups gains nothing.
/// It runs on the transfer thread, so it must be quick and must not wait.
package struct AddressGuard: Sendable {
    /// Names the decision.
    ///
    /// Kept connections are shared only between requests whose keys are equal, so
    /// two guards that could ever disagree need two keys.
    package let key: String
    /// Whether a connection to this address is allowed.
    package let allows: @Sendable (SocketAddress) -> Bool

    /// A guard named `key`.
    package init(key: String, allows: @escaping @Sendable (SocketAddress) -> Bool) {
        self.key = key
        self.allows = allows
    }

    /// Lets every address pass.
    package static let open = AddressGuard(key: "") { _ in true }
}
