/// Asks for a run of a job now.
package struct RunRequest: Hashable, Sendable, Codable {
    /// Runs it although the job's overlap policy would refuse.
    package var force: Bool?
    /// Two requests of one key are one run.
    package var key: String?

    /// A request, polite and without a key unless given.
    package init(force: Bool? = nil, key: String? = nil) {
        self.force = force
        self.key = key
    }
}

/// Asks that something be said to the person.
package struct NotifyRequest: Hashable, Sendable, Codable {
    /// What to say; not only blanks.
    package var text: String
    /// A line above it.
    package var title: String?
    /// Who says it; absent: `belfry`.
    package var bot: String?
    /// Absent: `main`.
    package var thread: String?
    /// The channel that alone shows it, in a thread of its own; absent: those of the routes.
    package var to: String?
    /// `low`, `normal` or `critical`; absent: normal.
    package var urgency: String?
    /// An icon's name in the theme.
    package var icon: String?
    /// A sound's name in the theme, or `none`.
    package var sound: String?
    /// A notification category such as `im.received`.
    package var category: String?
    /// What was said under this key before is replaced.
    package var replace: String?
    /// Taken back after this long, milliseconds.
    package var expireMs: Int64?
    /// The id of the run that says it: the rules for its job hold; one that does not exist is left out.
    package var run: String?
    /// Links to pages, five at most; buttons where a channel supports them.
    package var links: [WireLink]?

    /// A request to say `text`, everything else as usual.
    package init(text: String) {
        self.text = text
    }
}

/// A link from a message to a page.
package struct WireLink: Hashable, Sendable, Codable {
    /// The button's label.
    package var label: String
    /// The whole address, http or https.
    package var url: String

    /// A link.
    package init(label: String, url: String) { (self.label, self.url) = (label, url) }
}

/// Says something to a bot.
package struct SayRequest: Hashable, Sendable, Codable {
    /// Chosen by the caller, fresh: said again with it, it is said once.
    package var id: String?
    /// What to say; not only blanks, unless a file comes with it.
    package var text: String
    /// Absent: the thread of the message it replies to, else `main`.
    package var thread: String?
    /// The id of the message it replies to, which may be shortened.
    package var replyTo: String?
    /// The name of the file that comes with it.
    package var fileName: String?
    /// What the file holds, in base64; at most 5 MiB.
    package var fileContent: String?

    /// Says `text` in the thread `main`.
    package init(text: String) {
        self.text = text
    }
}

/// Notes a reaction.
package struct ReactionRequest: Hashable, Sendable, Codable {
    /// A word or an emoji; one line.
    package var word: String

    /// A reaction by this word.
    package init(word: String) {
        self.word = word
    }
}

/// Asks that a command be run like a job, with the caller's folder and environment.
package struct ExecRequest: Hashable, Sendable, Codable {
    /// Chosen by the caller, fresh: asking again with it answers with the run that it made before.
    ///
    /// Absent: every request is a run.
    package var id: String?
    /// The job's name to file it under; absent: the command's own name.
    package var name: String?
    /// The bot it belongs to; absent: `belfry`.
    package var bot: String?
    /// When the person is notified: `always`, `failure` or `never`; absent: as the routes say.
    package var notify: String?
    /// The person is notified of its end if it took at least this long; absent: as the routes say.
    package var notifyAfterMs: Int64?
    /// The program and its arguments; at least one.
    package var command: [String]
    /// The folder to run in; an absolute path.
    package var cwd: String
    /// The whole environment, but for what every job gets.
    package var env: [String: String]
    /// The file mode mask; absent: the warden's.
    package var umask: UInt32?
    /// The token under which the caller offered its streams to the warden; absent: nobody is attached.
    package var attachment: String?
    /// The size of the terminal it is given; absent: it gets none.
    package var terminal: WireTerminal?

    /// A request to run `command` in `cwd` with the environment `env`.
    package init(command: [String], cwd: String, env: [String: String]) {
        self.command = command
        self.cwd = cwd
        self.env = env
    }
}

/// How large a terminal is, in characters.
package struct WireTerminal: Hashable, Sendable, Codable {
    /// From 1 to 65,535.
    package var rows: Int
    /// From 1 to 65,535.
    package var columns: Int

    /// A terminal of that size.
    package init(rows: Int, columns: Int) {
        self.rows = rows
        self.columns = columns
    }
}

/// A test of a bot.
package struct BotTestRequest: Hashable, Sendable, Codable {
    /// Whether it is asked for a word, which costs what a word costs; absent: no.
    package var ask: Bool?

    /// A test without a reply.
    package init() {}
}
