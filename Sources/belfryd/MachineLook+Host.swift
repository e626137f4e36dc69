import Engine
import Glibc
import Host
import Ledger

extension MachineLook {
    /// What this process can see: it only reports what is so for every user.
    static var ofThisMachine: MachineLook {
        MachineLook(
            programFault: { spec in
                guard case .command(let words) = spec.action, let word = words.first else { return nil }
                return programFault(word, of: spec)
            },
            isUser: { name in
                do throws(HostError) { return try Account.find(name) != nil } catch { return true }
            }, isFolder: { kind(of: $0).map { $0 == 0o040000 } ?? true },
            isFile: { kind(of: $0).map { $0 != 0o040000 && $0 != 0 } ?? true })
    }

    /// Where programs are looked for on behalf of another user.
    private static let standardPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

    private static func programFault(_ word: String, of spec: JobSpec) -> String? {
        if word.contains("/") {
            let folder = spec.directory ?? Machine.environment["HOME"] ?? "/"
            switch look(at: word.hasPrefix("/") ? word : folder + "/" + word) {
            case .missing: return "there is no program \(word)"
            case .notExecutable: return "\(word) is not executable"
            case .good: return nil
            }
        }
        let own = spec.process?.user == nil ? Machine.environment["PATH"] : nil
        let path = spec.environment["PATH"] ?? own ?? standardPath
        let found = path.split(separator: ":").filter { $0.hasPrefix("/") }.map { look(at: $0 + "/" + word) }
        if found.contains(.good) { return nil }
        return found.contains(.notExecutable)
            ? "the program \"\(word)\" is not executable" : "there is no program \"\(word)\" in \(path)"
    }

    private enum Sight { case good, missing, notExecutable }

    /// The type bits of what is at `path`; 0: nothing, nil: it cannot be seen.
    private static func kind(of path: String) -> UInt32? {
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status.st_mode & 0o170000 }
        return errno == ENOENT || errno == ENOTDIR ? 0 : nil
    }

    /// What cannot be seen counts as good: another user may see it.
    private static func look(at path: String) -> Sight {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            return errno == ENOENT || errno == ENOTDIR ? .missing : .good
        }
        let isFile = status.st_mode & 0o170000 == 0o100000
        return isFile && status.st_mode & 0o111 != 0 ? .good : .notExecutable
    }
}
