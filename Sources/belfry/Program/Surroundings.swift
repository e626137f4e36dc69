import API
import Cron
import Glibc
import Host
import TerminalView
import Timeline

/// The zones of this machine.
enum Zones {
    /// The zone people here read clocks in; UTC when it can't be found.
    static var local: ZoneRules {
        rules(ZoneFiles().hostZoneName()) ?? .utc
    }

    /// The rules of a zone; nil when there is none of that name.
    static func rules(_ name: String) -> ZoneRules? {
        guard name != "UTC" else { return .utc }
        return try? ZoneFiles().rules(of: name)
    }

    /// The time that the value of an option names, in `zone` where it has no offset.
    static func moment(
        _ text: String, of option: String, in zone: ZoneRules = local,
        example: String = "a time such as 2026-03-29T03:00+02:00"
    ) throws(APIError) -> Moment {
        do {
            return try Moment(iso8601: text, in: zone)
        } catch {
            throw APIError(
                .badValue, "the value '\(text)' is invalid for '\(option)': \(error.message)",
                hint: "Write \(example).")
        }
    }

    /// The zones that a phrase may name.
    static var ofPhrases: PhraseZones {
        PhraseZones(names: { ZoneFiles().names }, rules: rules)
    }

    /// That there is no zone of that name, and which may have been meant.
    static func refusal(_ name: String) -> APIError {
        APIError(.badValue, "no zone \"\(name)\"", hint: hint(name) ?? "See: timedatectl list-timezones")
    }

    /// `Did you mean "Europe/Berlin"?`, also where a zone is named by its town or in other letters.
    static func hint(_ name: String) -> String? {
        ofPhrases.nearest(name).map { "Did you mean \"\($0)\"?" }
    }
}

/// The users of this machine.
enum UserTable {
    /// A user's name and folder.
    struct Entry: Hashable {
        var name: String
        var home: String
    }

    /// Who runs this program.
    static var own: Entry? { unsafe entry(getpwuid(geteuid())) }

    /// The user of that name.
    static func entry(_ name: String) -> Entry? { unsafe entry(getpwnam(name)) }

    private static func entry(_ row: UnsafeMutablePointer<passwd>?) -> Entry? {
        guard let row = unsafe row, let name = unsafe row.pointee.pw_name,
            let home = unsafe row.pointee.pw_dir
        else { return nil }
        return unsafe Entry(name: String(cString: name), home: String(cString: home))
    }
}

/// Paths as the kernel sees them.
enum FilePath {
    /// `path` made absolute, links followed; as it is when there is no such file.
    static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The folder the process is in; `/` when it no longer exists.
    static var current: String { resolved(".") == "." ? "/" : resolved(".") }
}

/// Output is never lost in silence: where it can't be written the process ends with 1 and the reason.
extension StandardOutput {
    /// Writes `text` and a line end.
    static func print(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes the JSON of `value`, one line.
    static func print(json value: some Encodable) throws(APIError) { print(try WireCoding.text(value)) }

    /// Writes sentences and a line end; on a terminal no line breaks inside a word.
    static func print(prose text: String) { print(Prose.fitted(text, to: STDOUT_FILENO)) }

    /// As ``Host/StandardOutput/send(_:)``; a reader that closed its end of a pipe ends the process quietly.
    static func write(_ bytes: [UInt8]) {
        do throws(HostError) {
            try send(bytes)
        } catch {
            Entry.end(unwritten: error)
        }
    }
}

extension TerminalSize {
    /// The size of the first of these descriptors that is a terminal with one; 80 by 24 where none is.
    init(of descriptors: Int32...) {
        for descriptor in descriptors {
            var size = winsize()
            guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { continue }
            self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
            return
        }
        self.init(columns: 80, rows: 24)
    }
}

extension StandardError {
    /// Writes sentences and a line end; on a terminal no line breaks inside a word.
    static func print(prose text: String) { print(Prose.fitted(text, to: STDERR_FILENO)) }
}

/// Sentences for people.
private enum Prose {
    /// `text` in lines that fit where it is written; as it is where no terminal shows it, or it has lines already.
    ///
    /// Lines of a drawing have marks under them, which would move.
    static func fitted(_ text: String, to descriptor: Int32) -> String {
        guard isatty(descriptor) == 1, !text.contains("\n") else { return text }
        return ColumnFit.wrap(text, hang: 2, columns: TerminalSize(of: descriptor).columns)
            .joined(separator: "\n")
    }
}

/// The process's standard input.
enum StandardInput {
    /// All of it as text, broken UTF-8 replaced, line ends at the end dropped unless `keepsEnd`.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/tooLarge`` when there are more than `limit` bytes.
    static func text(limit: Int, keepsEnd: Bool = false) throws(APIError) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw APIError(
                    .tooLarge, "standard input holds more than \(limit / 1024) KiB",
                    hint: "Pipe it through: tail -c \(limit)")
            }
        }
        while !keepsEnd, bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Standard input in blocks of whole lines, each as soon as it is there.
struct LineInput {
    private var rest: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    private var isAtEnd = false
    private let limit: Int

    /// Lines of at most `limit` bytes.
    init(limit: Int) { self.limit = limit }

    /// The next whole lines; nil at the end.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/tooLarge`` for a line of more than the limit.
    mutating func nextBlock() throws(APIError) -> ArraySlice<UInt8>? {
        while !isAtEnd {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                isAtEnd = true
                break
            }
            guard let end = buffer[..<count].lastIndex(of: UInt8(ascii: "\n")) else {
                rest += buffer[..<count]
                try check()
                continue
            }
            let block = rest + buffer[...end]
            rest = Array(buffer[(end + 1)..<count])
            return block[...]
        }
        defer { rest = [] }
        return rest.isEmpty ? nil : rest[...]
    }

    private func check() throws(APIError) {
        guard rest.count > limit else { return }
        throw APIError(.tooLarge, "a line of standard input holds more than \(limit / 1024) KiB")
    }
}
