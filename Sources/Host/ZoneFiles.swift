import CLinux
import Glibc
package import Timeline

/// The machine's time zone database, in compiled files.
package struct ZoneFiles: Sendable {
    /// The folder of the files.
    package let folder: String

    /// The database at `folder`.
    ///
    /// Default: `$TZDIR`, else Debian's `/usr/share/zoneinfo`.
    package init(folder: String? = nil, environment: [String: String] = Machine.environment) {
        let named = environment["TZDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        self.folder = folder ?? named ?? "/usr/share/zoneinfo"
    }

    /// The bytes of the zone's TZif file.
    ///
    /// - Throws: ``HostError/noSuchZone(name:)`` also for a name that could leave the folder, and
    ///   ``HostError/malformed(path:problem:)`` for a file that is not TZif or above 256 KiB.
    package func bytes(of name: String) throws(HostError) -> [UInt8] {
        guard Self.isName(name) else { throw .noSuchZone(name: name) }
        let path = folder + "/" + name
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.read(path, limit: 256 * 1024)
        } catch .system(_, let code, _) where [ENOENT, ENOTDIR, EISDIR].contains(code) {
            throw .noSuchZone(name: name)
        }
        guard bytes.starts(with: "TZif".utf8) else {
            throw .malformed(path: path, problem: "not a compiled time zone")
        }
        return bytes
    }

    /// The rules of the zone `name`.
    ///
    /// `UTC` is known also where the database is not installed.
    /// - Throws: as ``bytes(of:)``, and ``HostError/malformed(path:problem:)`` for a damaged file.
    package func rules(of name: String) throws(HostError) -> ZoneRules {
        let bytes: [UInt8]
        do throws(HostError) {
            bytes = try self.bytes(of: name)
        } catch {
            if name == "UTC" { return .utc }
            throw error
        }
        do throws(TimelineError) {
            return try ZoneRules(name: name, tzif: bytes)
        } catch {
            throw .malformed(path: folder + "/" + name, problem: error.message)
        }
    }

    /// The release of the database, such as `2025b`; nil when unknown.
    ///
    /// - Source: the first line of `tzdata.zi`, else the file `+VERSION`.
    package var version: String? {
        if let text = try? SmallFile.text(folder + "/+VERSION", limit: 64) { return text }
        guard let file = try? Descriptor.open(folder + "/tzdata.zi", O_RDONLY) else { return nil }
        var start = [UInt8](repeating: 0, count: 64)
        guard case .bytes(let count)? = try? file.read(into: &start) else { return nil }
        let line = String(decoding: start[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
        let sign = "# version "
        return line.hasPrefix(sign) ? String(line.dropFirst(sign.count)) : nil
    }

    /// The names of all zones, also the older ones; empty when the machine has no list.
    ///
    /// - Source: the lines `Z NAME` and `L TARGET NAME` of `tzdata.zi`.
    package var names: [String] {
        guard let text = try? SmallFile.text(folder + "/tzdata.zi", limit: 1 << 20) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            switch words.first {
            case "Z" where words.count > 1: return String(words[1])
            case "L" where words.count > 2: return String(words[2])
            default: return nil
            }
        }
    }

    /// The name of the machine's own zone: `$TZ`, the link `/etc/localtime`, the file `/etc/timezone`;
    /// `UTC` when none of them names one.
    package func hostZoneName(
        environment: [String: String] = Machine.environment, root: String = ""
    ) -> String {
        let found = [
            environment["TZ"].flatMap(zoneName(in:)),
            (try? Machine.linkTarget(root + "/etc/localtime")).flatMap(zoneName(in:)),
            (try? SmallFile.text(root + "/etc/timezone", limit: 256)).flatMap(zoneName(in:)),
        ]
        return found.compactMap(\.self).first ?? "UTC"
    }

    /// A zone's name out of `Europe/Berlin`, `:Europe/Berlin` or `/usr/share/zoneinfo/Europe/Berlin`.
    private func zoneName(in text: String) -> String? {
        var name = text.hasPrefix(":") ? String(text.dropFirst()) : text
        let marker = "/zoneinfo/"
        if let range = name.firstRange(of: marker) { name = String(name[range.upperBound...]) }
        return (try? bytes(of: name)) == nil ? nil : name
    }

    /// Letters, digits, `_+-`, in parts divided by single slashes: no dots, so no way up.
    private static func isName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        return name.utf8.count <= 128
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x5F: true
                        default: false
                        }
                    }
            }
    }
}
