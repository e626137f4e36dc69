import Host

/// A program that is a channel, and has the moods of a ``SickReceiver``.
struct SickProgram: Sendable {
    private let folder: String

    /// The program in `folder`; ``write()`` makes its file.
    init(folder: String) { self.folder = folder }

    /// The path of its shell script.
    var path: String { folder + "/program" }
    private var moodPath: String { folder + "/mood" }
    private var acceptedPath: String { folder + "/accepted" }

    /// Writes the script, for a program that is well.
    func write() throws {
        try SmallFile.replace(path, with: Array(script.utf8))
        try set(.well)
    }

    /// Changes its mood.
    func set(_ mood: SickReceiver.Mood) throws {
        try SmallFile.replace(moodPath, with: Array("\(mood.rawValue)\n".utf8))
    }

    /// What it accepted, line by line: the entry's id, and the whole notice.
    var accepted: [(id: String, notice: Substring)] {
        let text = (try? SmallFile.text(acceptedPath, limit: 1 << 28)) ?? ""
        return text.split(separator: "\n").map { line in
            (String(line.prefix { $0 != " " }), line.drop { $0 != " " }.dropFirst())
        }
    }

    private var script: String {
        """
        read -r notice
        read -r mood < \(moodPath)
        if [ "$mood" = mixed ]; then
            case $(($$ % 12)) in
                0) mood=throttles ;;
                1) mood=hangsUp ;;
                2) mood=late ;;
                *) mood=well ;;
            esac
        fi
        case $mood in
            refuses | throttles) echo later; exit 75 ;;
            hangs | dead) exec sleep 60 ;;
            hangsUp) kill -9 $$ ;;
        esac
        printf '%s %s\\n' "$NOTICE_ID" "$notice" >> \(acceptedPath)
        if [ "$mood" = late ]; then kill -9 $$; fi

        """
    }
}
