import Crypto
import FoundationEssentials
package import Host
package import OpenClaw
import Synchronization
import Tracking

/// The key pair by which gateways know this device.
package struct DeviceIdentity: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// A new identity.
    package init() { key = Curve25519.Signing.PrivateKey() }

    /// The identity with this seed of 32 bytes; nil where it is none.
    package init?(seed: [UInt8]) {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else { return nil }
        self.key = key
    }

    /// What the identity is made of: kept in a file, and nowhere shown.
    var seed: [UInt8] { Array(key.rawRepresentation) }

    /// The lower-case hexadecimal digits of the SHA-256 of the public key.
    package var id: String {
        HexDigits.text(Array(SHA256.hash(data: key.publicKey.rawRepresentation)))
    }

    /// The public key in base64url without padding.
    package var publicKey: String { Self.base64URL(Array(key.publicKey.rawRepresentation)) }

    /// The statement with its signature; nil where the key can't sign, which no valid key does.
    package func proof(of statement: DeviceStatement) -> DeviceProof? {
        guard let signature = try? key.signature(for: Array(statement.text.utf8)) else { return nil }
        return DeviceProof(
            statement, publicKey: publicKey, signature: Self.base64URL(Array(signature)))
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        var text = Data(bytes).base64EncodedString()
        while text.last == "=" { text.removeLast() }
        return text.replacing("+", with: "-").replacing("/", with: "_")
    }
}

extension DeviceIdentity: CustomStringConvertible, CustomReflectable {
    /// Its id alone.
    package var description: String { id }

    /// Nothing to look into.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Bytes as hexadecimal digits.
enum HexDigits {
    /// Two lower-case digits a byte.
    static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes of such a text; nil where it is none.
    static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).reduce(into: [UInt8]?.some([])) { bytes, place in
            let pair = String(decoding: digits[place..<place + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16), pair.utf8.allSatisfy({ $0 != 0x2B }) else {
                return bytes = nil
            }
            bytes?.append(byte)
        }
    }
}

/// What this device is to one gateway, in a file of mode 0600: its identity, and the token that the gateway issued.
///
/// Each gateway has its own: none learns by the id that a device is known to another.
package final class DeviceFile: Sendable {
    private struct Content {
        var identity: DeviceIdentity
        var token: String?
    }

    private let path: String
    private let content: Mutex<Content?> = Mutex(nil)

    /// The file of the gateway at this host and port, in a folder that is made with the first file.
    package init(folder: String, host: String, port: Int) {
        let plain = host.map { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" ? $0 : "_" }
        path = "\(folder)/\(String(plain))_\(port).json"
    }

    /// The identity, made and kept where there is none, and the token.
    ///
    /// - Throws: why the file can't be read or written; a damaged one is not replaced, for the gateway may know it.
    package func read() throws(HostError) -> (identity: DeviceIdentity, token: String?) {
        if let known = content.withLock({ $0 }) { return (known.identity, known.token) }
        var found: Content
        do throws(HostError) {
            found = try Self.parse(try SmallFile.read(path, limit: 1 << 16, mayBeLink: false), path)
        } catch {
            guard error.code == 2 else { throw error }
            found = Content(identity: DeviceIdentity())
            try write(found)
        }
        content.withLock { $0 = found }
        return (found.identity, found.token)
    }

    /// Keeps the token that the gateway issued; nil: forgets it.
    package func keep(token: String?) throws(HostError) {
        var (identity, known) = try read()
        guard known != token else { return }
        known = token
        let next = Content(identity: identity, token: known)
        try write(next)
        identity = next.identity
        content.withLock { $0 = next }
    }

    private func write(_ content: Content) throws(HostError) {
        let folder = SmallFile.parent(of: path)
        try PrivateFolder.make(folder, within: SmallFile.parent(of: folder))
        let json = JSON.object([
            "version": .int(1), "seed": .string(HexDigits.text(content.identity.seed)),
            "device": .string(content.identity.id), "token": content.token.map { .string($0) },
        ])
        try SmallFile.replace(path, with: json.bytes + [0x0A], isDurable: true)
    }

    private static func parse(_ bytes: [UInt8], _ path: String) throws(HostError) -> Content {
        guard let json = JSON(parsing: bytes[...]),
            let identity = json["seed"]?.text.flatMap(HexDigits.bytes).flatMap(DeviceIdentity.init)
        else { throw .malformed(path: path, problem: "holds no identity of a device") }
        return Content(identity: identity, token: json["token"]?.text)
    }
}
