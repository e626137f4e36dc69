import Host
import Performing
import Prompting
import Tracking

/// What must be known of an attempt to read its program's output as a bot's reply: kept in a file while the attempt is
/// under way, because the program outlives the daemon.
struct ReplyNote: Hashable {
    /// The bot's name.
    var bot: String
    /// What people call the program.
    var program: String
    /// How it prints its reply.
    var dialect: ProgramDialect
    /// Where the reply's text goes while it comes.
    var output: ProcessOrder.Output
    /// What tokens cost where the program does not report what it cost; nil: nobody said.
    var price: TokenPrice?
    /// Whether a person reads the output as the reply while it comes.
    var isReadLive = false
    /// Whether the next prompt is to resume its session.
    var keepsSession = false
    /// The session that it resumes; nil: it begins another one.
    var session: Continuation?

    /// Whether its run may wait for a person without a process.
    var mayPark: Bool { !isReadLive && dialect == .claude }
    /// The log of what the program itself prints on standard output.
    var printed: OutputLog { OutputLog(path: output.path + ReplyFiles.printed) }
    /// Who failed, where something does.
    var place: ReplyFailure.Place { .init(bot: bot, provider: program, isProgram: true) }

    /// The content of its file.
    var bytes: [UInt8] {
        JSON.object([
            "bot": .string(bot), "program": .string(program), "dialect": .string(dialect.rawValue),
            "path": .string(output.path), "head": .int(output.headBytes), "tail": .int(output.tailBytes),
            "price": price.map { .object(["input": .double($0.input), "output": .double($0.output)]) },
            "isReadLive": .bool(isReadLive), "keepsSession": .bool(keepsSession),
            "session": session.flatMap { try? JSON(encoding: $0) },
        ]).bytes
    }
}

extension ReplyNote {
    /// Reads ``bytes`` back; nil when they are of another version.
    init?(_ bytes: [UInt8]) {
        guard let json = JSON(parsing: bytes[...]), let bot = json["bot"]?.text,
            let program = json["program"]?.text,
            let dialect = json["dialect"]?.text.flatMap(ProgramDialect.init), let path = json["path"]?.text,
            let head = json["head"]?.int, let tail = json["tail"]?.int
        else { return nil }
        self.init(
            bot: bot, program: program, dialect: dialect,
            output: ProcessOrder.Output(path: path, headBytes: head, tailBytes: tail))
        if let input = json["price"]?["input"]?.double, let output = json["price"]?["output"]?.double {
            price = TokenPrice(input: input, output: output)
        }
        isReadLive = json["isReadLive"] == .bool(true)
        keepsSession = json["keepsSession"] == .bool(true)
        session = json["session"].flatMap { try? JSON.decode(Continuation.self, from: $0.bytes) }
            .flatMap { $0.isSafe ? $0 : nil }
    }
}

/// The files beside the output of an attempt that a program performed.
package enum ReplyFiles {
    /// What the program printed on standard output.
    static let printed = ".raw"
    /// What it printed on standard error.
    static let errors = ".err"

    /// How much of what it wrote to standard error stays once its reply is in the ledger.
    private static let errorsKept = 64 << 10

    /// What came of the attempt is in the ledger: what it printed is not read again, and of its errors the last are kept.
    static func settle(besides output: String) {
        OutputLog(path: output + printed).remove()
        OutputLog(path: output + errors).keepLast(errorsKept)
    }

    /// Removes them; missing ones are ignored.
    package static func remove(besides output: String) {
        for ending in [printed, errors] { OutputLog(path: output + ending).remove() }
    }
}

/// What must be known of an attempt under way after a crash.
protocol AttemptNote {
    /// The content of its file.
    var bytes: [UInt8] { get }
    /// Reads ``bytes`` back; nil when they are of another version.
    init?(_ bytes: [UInt8])
}

extension ReplyNote: AttemptNote {}

/// The notes of the attempts under way, one file each, named after the attempt.
struct AttemptNotes<Note: AttemptNote> {
    /// The folder; it is made with the first note.
    let folder: String
    /// The most bytes of one.
    var limit = 1 << 20

    /// All of them; and of the attempts whose notes can't be read, why.
    ///
    /// - Throws: why nobody knows which attempts have notes.
    func all() throws(HostError) -> (readable: [RunKey: Note], unreadable: [RunKey: String]) {
        var (readable, unreadable) = ([RunKey: Note](), [RunKey: String]())
        let names: [String]
        do throws(HostError) {
            names = try Folder.names(in: folder)
        } catch {
            guard PathContent(at: folder) == .nothing else { throw error }
            names = []
        }
        for key in names.compactMap(RunKey.init(description:)) {
            do throws(HostError) {
                readable[key] = Note(try SmallFile.read(path(key), limit: limit))
                if readable[key] == nil { unreadable[key] = "\(path(key)) is damaged, or of another version" }
            } catch {
                unreadable[key] = "\(error)"
            }
        }
        return (readable, unreadable)
    }

    /// Keeps a note, also when the daemon is killed, and with `isDurable` when the machine stops.
    func keep(_ note: Note, of key: RunKey, isDurable: Bool = false) throws(HostError) {
        try PrivateFolder.make(folder, within: SmallFile.parent(of: folder))
        try SmallFile.replace(path(key), with: note.bytes, isDurable: isDurable)
    }

    /// Removes the attempt's note, if there is one.
    func remove(_ key: RunKey) {
        guard let file = try? FileIdentity(at: path(key)) else { return }
        file.remove(path(key))
    }

    private func path(_ key: RunKey) -> String { "\(folder)/\(key)" }
}
