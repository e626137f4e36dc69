import API
import Crypto
import Host
import Tracking

/// Makes and checks the links by which questions are answered.
///
/// A link has the id of the question, and a code that only this daemon can make. It needs no row: it ends with its
/// question.
package struct QuestionLinks: Sendable {
    /// What the paths of links begin with.
    static let lead = "/q/"

    private let key: SymmetricKey

    /// Links that are signed with `key`.
    init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// The links of a daemon with this state folder, whose key is made at first.
    ///
    /// - Throws: `HostError` when the key can be neither read nor made.
    package static func inState(_ state: String) throws -> QuestionLinks {
        let path = state + "/door/link.key"
        do throws(HostError) {
            let text = try SmallFile.text(path)
            if let bytes = Base64.decode(text), bytes.count == 32 { return QuestionLinks(key: bytes) }
        } catch  where !error.isMissing {
            // A key that can't be read now is not thrown away: links that people have would lose their meaning.
            throw error
        } catch {}
        let bytes = DoorToken.bytes()
        try PrivateFolder.make(state + "/door", within: state)
        try SmallFile.replace(path, with: Array((Base64.encode(bytes) + "\n").utf8), isDurable: true)
        return QuestionLinks(key: bytes)
    }

    /// The path of the link to a question: `/q/ID.CODE`.
    package func path(of question: String) -> String {
        let code = DoorToken.plain(Base64.encode(Array(code(of: question).prefix(16))))
        return "\(Self.lead)\(question).\(code)"
    }

    /// The key in the address of an expectation with this seed: without the secret of the daemon nobody can make it.
    func pingKey(of seed: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("ping \(seed)".utf8), using: key)
        return DoorToken.plain(Base64.encode(Array(code.prefix(24))))
    }

    /// The question that a link leads to; nil: the link is forged.
    func question(atPath path: String) -> String? {
        guard path.hasPrefix(Self.lead), let dot = path.lastIndex(of: ".") else { return nil }
        let id = String(path.dropFirst(Self.lead.count)[..<dot])
        let (given, right) = (Array(path.utf8), Array(self.path(of: id).utf8))
        guard given.count == right.count else { return nil }
        // Looked at to the end, wherever the first difference is.
        return zip(given, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 ? id : nil
    }

    private func code(of question: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("question \(question)".utf8), using: key))
    }
}
