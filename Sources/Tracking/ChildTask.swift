/// A part of a run's work, which a job reports beside the whole.
public struct ChildTask: Hashable, Sendable, Codable {
    /// Where a part is.
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// At work.
        case working
        /// Waits for a person.
        case blocked
        /// Did what it should.
        case done
        /// Did not.
        case failed
        /// The run ended before it did.
        case stopped
    }

    /// How many parts of a run are kept: of more, those that ended go first.
    public static let most = 32
    /// How many names a path has at most, and how many bytes.
    static let deepest = 8
    static let longestPath = 128
    static let longestName = 32
    static let longestMessage = 100

    /// Its names from the outermost, `build/linux`; see ``isPath(_:)``.
    public var path: String
    /// Where it is.
    public var state: State
    /// The part done, 0...1; absent until reported.
    ///
    /// Never falls.
    public var progress: Double?
    /// The last line for people, at most 100 characters.
    public var message: String?

    /// A part at work, of which nothing is known.
    public init(path: String, state: State = .working) {
        self.path = path
        self.state = state
    }

    /// Whether a part may be called that: 1 to 8 names of 1 to 32 letters, digits, `_`, `.`, `+` and `-`, with `/`
    /// between them; 128 bytes at most.
    ///
    /// - Source: OSC 7501 (Program Status Protocol), key `id`.
    public static func isPath(_ text: String) -> Bool {
        guard (1...longestPath).contains(text.utf8.count) else { return false }
        let names = text.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        return names.count <= deepest
            && names.allSatisfy { (1...longestName).contains($0.count) && $0.allSatisfy(isNameByte) }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}

/// What a job reports about a part of its work, once.
public struct ReportedPart: Hashable, Sendable, Codable {
    /// What it says of the part's state.
    public enum Word: String, Hashable, Sendable, Codable {
        case working, blocked, done, failed
        /// The part and those in it are to be forgotten.
        case clear
    }

    /// The part's path; whoever keeps it looks whether it is one.
    public var path: String
    /// The part done, 0...1.
    public var progress: Double?
    /// Where it is.
    public var word: Word?

    /// A report that says nothing but that the part is there.
    public init(path: String, progress: Double? = nil, word: Word? = nil) {
        self.path = path
        self.progress = progress
        self.word = word
    }
}

extension ReportedPart.Word {
    /// The word that a job writes: `working`, `done`, `failed` or `error`, `clear`, or `blocked` with or without a kind.
    init?(_ text: String) {
        switch text {
        case "error": self = .failed
        case _ where text.hasPrefix("blocked:"): self = .blocked
        default: self.init(rawValue: text)
        }
    }
}

/// The parts of a run's work in the order of a tree.
public struct TaskTree: Hashable, Sendable {
    /// The last name of its path.
    public var name: String
    /// Its path.
    public var path: String
    /// What is known of it; absent where only parts of it were reported.
    public var task: ChildTask?
    /// The parts in it, in the order of their first reports.
    public var parts: [TaskTree]

    /// The trees of these parts.
    public static func of(_ tasks: [ChildTask]) -> [TaskTree] {
        of(tasks.map { ($0.path.split(separator: "/").map(String.init)[...], $0) }, below: "")
    }

    private static func of(
        _ tasks: [(names: ArraySlice<String>, task: ChildTask)], below parent: String
    ) -> [TaskTree] {
        var trees: [TaskTree] = []
        var inner: [[(names: ArraySlice<String>, task: ChildTask)]] = []
        for (names, task) in tasks {
            guard let name = names.first else { continue }
            let place = trees.firstIndex { $0.name == name }
            if place == nil {
                trees.append(TaskTree(name: name, path: parent + name, parts: []))
                inner.append([])
            }
            let index = place ?? trees.count - 1
            if names.count == 1 {
                trees[index].task = task
            } else {
                inner[index].append((names.dropFirst(), task))
            }
        }
        for index in trees.indices { trees[index].parts = of(inner[index], below: trees[index].path + "/") }
        return trees
    }

    /// The tree and all in it, from above, each with how deep it is.
    public func flattened(depth: Int = 0) -> [(depth: Int, tree: TaskTree)] {
        [(depth, self)] + parts.flatMap { $0.flattened(depth: depth + 1) }
    }
}
