package import Tracking

/// What a performer is to do for one attempt, with all it needs.
package enum AttemptOrder: Hashable, Sendable {
    /// A process is to run.
    case process(ProcessOrder)
    /// A bot is to be asked.
    case prompt(PromptOrder)
    /// A web address is to be called.
    case url(URLOrder)

    /// The attempt.
    package var key: RunKey {
        switch self {
        case .process(let order): order.key
        case .prompt(let order): order.key
        case .url(let order): order.key
        }
    }
}

/// A prompt that a bot is to reply to.
package struct PromptOrder: Hashable, Sendable {
    /// The attempt; a second order with the same key asks nothing.
    package var key: RunKey
    /// The bot's name.
    package var bot: String
    /// What was said before, the oldest first; a person begins.
    package var earlier: [EarlierTurn]
    /// What the bot itself keeps of what was said before that; nil: nothing was.
    package var summary: String?
    /// What was said before ``earlier`` that the bot is to summarize first; nil: nothing.
    package var older: OlderTalk?
    /// What the bot is asked.
    package var text: String
    /// How long the reply may take, from the start; nil: as long as the performer waits by itself.
    package var timeout: Duration?
    /// Where the reply goes while it comes.
    package var output: ProcessOrder.Output
    /// Whether a person reads the output as the reply while it comes: nothing else is written there.
    package var isReadLive = false
    /// The session of the bot's provider in which all of what was said before was said, but for ``earlier``; nil: none.
    package var session: Continuation?
    /// Whether ``session`` put off a call until a person had been asked, and goes on with it: nothing new is asked.
    package var goesOn = false
    /// How the program of a bot that is one is started.
    ///
    /// With the job's environment, folder and limits; what it runs and reads is still to be set. Nil: nobody said.
    package var program: ProcessOrder?

    /// A prompt without a timeout, unless one is given.
    package init(
        key: RunKey, bot: String, earlier: [EarlierTurn] = [], text: String, timeout: Duration? = nil,
        output: ProcessOrder.Output
    ) {
        self.key = key
        self.bot = bot
        self.earlier = earlier
        self.text = text
        self.timeout = timeout
        self.output = output
    }
}

/// What one side of a conversation said before a prompt.
package struct EarlierTurn: Hashable, Sendable {
    /// Whether the bot said it.
    package var isOfBot: Bool
    /// What was said.
    package var text: String

    /// A turn of the bot, or of a person.
    package init(isOfBot: Bool, text: String) {
        self.isOfBot = isOfBot
        self.text = text
    }
}

/// What was said long ago: its bot summarizes it, and is shown the summary in its place from then on.
package struct OlderTalk: Hashable, Sendable {
    /// The turns, oldest first; a person begins.
    package var turns: [EarlierTurn]
    /// The row of the last message of them.
    package var through: Int64

    /// Turns up to the message of that row.
    package init(_ turns: [EarlierTurn], through: Int64) {
        self.turns = turns
        self.through = through
    }
}

/// What a bot keeps of what was said in a conversation, up to a message.
package struct TalkSummary: Hashable, Sendable {
    /// In the bot's own words.
    package var text: String
    /// The row of the last message that it is of.
    package var through: Int64

    /// A summary up to the message of that row.
    package init(_ text: String, through: Int64) {
        self.text = text
        self.through = through
    }
}

/// A request whose answer is the output of one attempt.
package struct URLOrder: Hashable, Sendable {
    /// The attempt; a second order with the same key sends nothing.
    package var key: RunKey
    /// Where to; may hold a secret, so it is never shown whole.
    package var url: String
    /// The method.
    package var method: String
    /// The headers by their names, secrets among them.
    package var headers: [String: String]
    /// What is sent; nil: nothing.
    package var body: [UInt8]?
    /// The good statuses.
    package var expected: [ClosedRange<Int>]
    /// What may be reached although it is not public, or in plain http.
    package var allow: [String]
    /// How long it may take, from the start; nil: as long as the performer waits by itself.
    package var timeout: Duration?
    /// Where the body of the answer goes while it comes.
    package var output: ProcessOrder.Output

    /// A GET for which 2xx is good, unless said otherwise.
    package init(
        key: RunKey, url: String, method: String = "GET", headers: [String: String] = [:],
        body: [UInt8]? = nil, expected: [ClosedRange<Int>] = [200...299], allow: [String] = [],
        timeout: Duration? = nil, output: ProcessOrder.Output
    ) {
        self.key = key
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.expected = expected
        self.allow = allow
        self.timeout = timeout
        self.output = output
    }
}

/// A process that performs one attempt: what to run, as whom, where, with which streams and limits.
package struct ProcessOrder: Hashable, Sendable {
    /// What to run.
    package enum Work: Hashable, Sendable {
        /// A program and its arguments. A name without a slash is looked for in the job's `PATH`.
        case command([String])
        /// Text for `/bin/sh -c`.
        case shell(String)
    }

    /// Where the run reads from.
    package enum Input: Hashable, Sendable {
        /// Nothing: `/dev/null`.
        case none
        /// What the daemon sends for it, through a pipe.
        case pipe
        /// The same, typed at its terminal; ``ProcessOrder/pty`` has its size.
        case pty
        /// These bytes through a pipe, and then the end.
        case text([UInt8])
        /// The file of this absolute path.
        case file(String)
    }

    /// How many bytes of input a sender may be ahead of ``PerformerEvent/inputTaken(_:end:isClosed:)``.
    package static let inputWindow = 1 << 18

    /// Where the output goes and how much of it is kept.
    ///
    /// The files are those of `OutputLog` in Host.
    package struct Output: Hashable, Sendable {
        /// The absolute path of the head file; its folder is made when missing, the state folder never.
        package var path: String
        /// How many bytes of the beginning are kept.
        ///
        /// Default 1 MiB.
        package var headBytes: Int
        /// How many bytes after the head are kept at most, always the newest.
        ///
        /// Default 1 MiB.
        package var tailBytes: Int

        /// An output at this path.
        package init(path: String, headBytes: Int = 1 << 20, tailBytes: Int = 1 << 20) {
            self.path = path
            self.headBytes = headBytes
            self.tailBytes = tailBytes
        }
    }

    /// The attempt; a second order with the same key starts nothing.
    package var key: RunKey
    /// What to run.
    package var work: Work
    /// Variables added to the performer's own environment, which they override.
    ///
    /// `NOTIFY_SOCKET` and `PROGRESS_FD` are set by the performer.
    package var environment: [String: String]
    /// The folder to start in; nil for the home folder.
    package var folder: String?
    /// How long it may run, from its start; nil for ever.
    ///
    /// At the end the whole process tree is ended.
    package var timeout: Duration?
    /// How long after TERM the tree is killed.
    ///
    /// Default 10 s.
    package var grace: Duration
    /// Where its output goes.
    package var output: Output
    /// The absolute path of the log of its standard error, as large as that of its output.
    ///
    /// Nil: both are one log.
    /// With one, ``output`` and its copies are standard output alone. Of no use together with ``pty``.
    package var errorPath: String?
    /// The names of the variables of the performer's own environment that are passed on; nil: all of them.
    ///
    /// One that ends with `*` stands for all that begin so.
    package var inherited: [String]?
    /// Whether a copy of the output is sent for parsing, as ``PerformerEvent/output(_:offset:bytes:)``.
    package var isOutputWatched: Bool
    /// The file mode mask; nil for 022.
    package var umask: UInt32?
    /// The terminal it is given as output, of this size at first; nil for a pipe.
    ///
    /// With ``stdin`` `.pty` it also reads from it, else only what ``stdin`` names.
    package var pty: PtySize?
    /// Where it reads from.
    ///
    /// Default nothing.
    package var stdin: Input
    /// The user it runs as, by name or number; nil for the performer's own.
    ///
    /// Only a performer of root can make it another one.
    package var user: String?
    /// Its scheduling priority: -20 (first) to 19 (last); nil for the performer's own.
    package var nice: Int?
    /// What it may not use more of; the soft and the hard limit.
    package var limits: [ResourceLimit: Int]
    /// Ends what earlier attempts of the run left running, by TERM and after this long by KILL; nil: it is left alone.
    ///
    /// The order is refused as long as any of it runs, in either case. An older performer leaves it alone.
    package var leftoverGrace: Duration?
    /// The token under which somebody offered streams to the performer; nil for nobody.
    ///
    /// With one, ``environment`` is the job's whole environment, standard error has a pipe of its own unless
    /// there is a terminal, and the order is refused when nobody offers streams under it.
    package var attachment: String?

    /// An order with the defaults named at each property.
    package init(
        key: RunKey, work: Work, environment: [String: String] = [:], folder: String? = nil,
        timeout: Duration? = nil, grace: Duration = .seconds(10), output: Output,
        isOutputWatched: Bool = true, umask: UInt32? = nil, pty: PtySize? = nil, stdin: Input = .none,
        user: String? = nil, nice: Int? = nil, limits: [ResourceLimit: Int] = [:]
    ) {
        self.key = key
        self.work = work
        self.environment = environment
        self.folder = folder
        self.timeout = timeout
        self.grace = grace
        self.output = output
        self.isOutputWatched = isOutputWatched
        self.umask = umask
        self.pty = pty
        self.stdin = stdin
        self.user = user
        self.nice = nice
        self.limits = limits
    }
}

/// What a process may be kept from using too much of.
///
/// - Source: getrlimit(2).
package enum ResourceLimit: Hashable, Sendable, CaseIterable {
    /// Processor time of one process, in seconds.
    case cpuSeconds
    /// The length of a file it writes, in bytes.
    case fileBytes
    /// The stack of its first thread, in bytes.
    case stackBytes
    /// A core dump, in bytes.
    case coreBytes
    /// Processes and threads of the same user, also those outside the run.
    case processes
    /// Descriptors open at a time.
    case descriptors
    /// Address space of one process, in bytes.
    case memoryBytes
}

/// How large the terminal of a run is, in characters.
package struct PtySize: Hashable, Sendable {
    /// From 1 to 65,535.
    package var rows: Int
    /// From 1 to 65,535.
    package var columns: Int

    /// A size; ``isValid``: whether a terminal can have it.
    package init(rows: Int, columns: Int) {
        self.rows = rows
        self.columns = columns
    }

    /// Whether the kernel can count so far.
    package var isValid: Bool {
        (1...Int(UInt16.max)).contains(rows) && (1...Int(UInt16.max)).contains(columns)
    }
}
