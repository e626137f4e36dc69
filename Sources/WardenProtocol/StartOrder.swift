/// Everything the warden needs to start one attempt.
package struct StartOrder: Hashable, Sendable {
    /// What to run.
    package enum Work: Hashable, Sendable {
        /// A program and its arguments. A name without a slash is looked for in the job's `PATH`.
        case command([String])
        /// Text for `/bin/sh -c`.
        case shell(String)
    }

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

    /// An order with the defaults named at each property.
    package init(
        key: RunKey, work: Work, environment: [String: String] = [:], folder: String? = nil,
        timeout: Duration? = nil, grace: Duration = .seconds(10), output: Output,
        isOutputWatched: Bool = true, umask: UInt32? = nil
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
    }
}
