/// Everything the warden needs to start one attempt.
package struct StartOrder: Hashable, Sendable {
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
        /// What ``WardenCommand/input(_:offset:bytes:)`` brings, through a pipe.
        case pipe
        /// The same, typed at its terminal; ``StartOrder/pty`` says how large that is.
        case pty
        /// These bytes through a pipe, and then the end.
        case text([UInt8])
        /// The file of this absolute path.
        case file(String)
    }

    /// How many bytes of input a sender may be ahead of ``WardenEvent/inputTaken(_:end:isClosed:)``.
    package static let inputWindow = 1 << 18

    /// Where the output goes and how much of it is kept.
    ///
    /// See ``OutputLog`` for the files.
    package struct Output: Hashable, Sendable {
        /// The absolute path of the head file; its folder is made when missing.
        package var path: String
        /// How many bytes of the beginning are kept.
        ///
        /// Default 1 MiB.
        package var headBytes: Int
        /// How many bytes after the head are kept at most, always the newest.
        ///
        /// Default 1 MiB.
        package var tailBytes: Int

        /// Keeps 1 MiB of head and 1 MiB of tail unless told otherwise.
        package init(path: String, headBytes: Int = 1 << 20, tailBytes: Int = 1 << 20) {
            self.path = path
            self.headBytes = headBytes
            self.tailBytes = tailBytes
        }
    }

    /// Whom the answer is about.
    ///
    /// A second order with the same key starts nothing.
    package var key: RunKey
    /// What to run.
    package var work: Work
    /// Variables added to the warden's own environment, winning over it.
    ///
    /// `NOTIFY_SOCKET` and
    /// `PROGRESS_FD` are the warden's to set.
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
    /// Whether a copy of the output is sent for parsing, as ``WardenEvent/output(_:offset:bytes:)``.
    package var isOutputWatched: Bool
    /// The file mode mask; nil for 022.
    package var umask: UInt32?
    /// The terminal it is given as output, of this size at first; nil for a pipe.
    ///
    /// With ``stdin`` `.pty` it also reads from it, else only what ``stdin`` says.
    package var pty: TerminalSize?
    /// Where it reads from.
    ///
    /// Default nothing.
    package var stdin: Input
    /// The user it runs as, by name or number; nil for the warden's own.
    ///
    /// Only a warden of root can make it another one.
    package var user: String?
    /// Its scheduling priority: -20 (first) to 19 (last); nil for the warden's own.
    package var nice: Int?
    /// What it may not use more of; the soft and the hard limit.
    package var limits: [ResourceLimit: Int]
    /// Ends what earlier attempts of the run left running, by TERM and after this long by KILL; nil: it is left alone.
    ///
    /// The order is refused as long as any of it runs, in either case. A warden that does not know this leaves it alone.
    package var leftoverGrace: Duration?
    /// The token under which somebody offered streams, see ``WardenCommand/attach(token:)``; nil for nobody.
    ///
    /// With one, ``environment`` is the job's whole environment, standard error has a pipe of its own unless
    /// there is a terminal, and the order is refused when nobody offers streams under it.
    package var attachment: String?

    /// An order with the defaults named at each property.
    package init(
        key: RunKey, work: Work, environment: [String: String] = [:], folder: String? = nil,
        timeout: Duration? = nil, grace: Duration = .seconds(10), output: Output,
        isOutputWatched: Bool = true, umask: UInt32? = nil, pty: TerminalSize? = nil, stdin: Input = .none,
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

    /// The version of the protocol whose warden does all that this asks for; see ``WardenHello/version``.
    ///
    /// An older one would pass over what it does not know, and start the run as somebody else.
    package var neededVersion: Int {
        pty == nil && stdin == .none && user == nil && nice == nil && limits.isEmpty ? 1 : 2
    }
}
