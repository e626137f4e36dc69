import Glibc
import Host

/// A folder with the peers' programs, removed when it is not needed any more.
final class PeerFolder {
    let path: String
    private let names: [String]

    /// Writes `files` by name into a new folder; `nil` when that can't be done.
    init?(files: [String: String]) {
        var template = Array("/tmp/belfry-peers.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        names = Array(files.keys)
        for (name, text) in files {
            guard (try? SmallFile.replace("\(path)/\(name)", with: Array(text.utf8))) != nil else {
                return nil
            }
        }
    }

    deinit {
        for name in names { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    /// What a shell command prints, its complaints dropped; empty when it can't be run.
    static func output(of command: String) -> String {
        guard let stream = unsafe popen("{ \(command); } 2>/dev/null", "r") else { return "" }
        defer { unsafe pclose(stream) }
        var bytes: [UInt8] = []
        var byte = unsafe getc(stream)
        while byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
            byte = unsafe getc(stream)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
