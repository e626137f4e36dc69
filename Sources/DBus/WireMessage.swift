/// A message of ours as the bytes of the wire, complete but for its number.
struct WireMessage: Sendable {
    private var bytes: [UInt8]

    /// Writes `arguments` behind `head`; a name or value that cannot travel throws.
    init(_ head: MessageHead, _ arguments: [DBusValue]) throws(DBusError) {
        try head.check()
        bytes = try MessageWriter.bytes(of: head, arguments)
    }

    /// The bytes to send under the number `serial`, which is not 0.
    func bytes(serial: UInt32) -> [UInt8] {
        let serialOffset = 8
        var bytes = bytes
        bytes.replace(at: serialOffset, with: serial)
        return bytes
    }
}

/// What a message says before its arguments.
struct MessageHead {
    /// - Source: D-Bus specification 0.42, "Message Format": the codes of the types.
    enum Kind: UInt8 {
        case call = 1
        case signal = 4
    }

    private static let noReplyExpected: UInt8 = 1
    private static let noAutoStart: UInt8 = 2

    var kind: Kind
    var flags: UInt8
    var path: String
    var interface: String
    var member: String
    var destination: String?

    /// A call of `method`.
    init(_ method: DBusMethod) {
        kind = .call
        flags = method.mayStartPeer ? 0 : Self.noAutoStart
        path = method.path
        interface = method.interface
        member = method.member
        destination = method.destination
    }

    /// A broadcast signal.
    init(path: String, interface: String, signal member: String) {
        kind = .signal
        flags = Self.noReplyExpected
        self.path = path
        self.interface = interface
        self.member = member
    }

    /// Throws the name that is malformed, if one is.
    func check() throws(DBusError) {
        if let destination { try Name.check(destination, as: .busName) }
        try Name.check(path, as: .path)
        try Name.check(interface, as: .interface)
        try Name.check(member, as: .member)
    }
}
