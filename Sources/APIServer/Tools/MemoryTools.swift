import API
import Engine
import Host
import Prompting
import Synchronization
import Tracking

/// What a bot keeps for the next time: the file that it is shown with each prompt.
enum MemoryTools {
    static let all = [memory]

    /// Two calls at a time would lose what one of them wrote.
    private static let writing = Mutex<Void>(())

    private static let memory = BotTool(
        "memory",
        "Your memory: a Markdown file that you are shown with each prompt. Keep in it what you must know next time, and no more.",
        [
            ToolParameter(
                "action", .choice(["read", "append", "replace"]),
                "read it, append text at its end, or replace what is below one heading.", isRequired: true),
            ToolParameter(
                "text", .text(limit: MemoryFile.limit), "What to append, or to put below the heading."),
            ToolParameter("section", .text(limit: 200), "The heading, without its #; of replace only."),
        ],
        obstacle: { user in
            user.bot.contact?.memory == nil
                ? "you have no memory; the person can name its file in bots.\(user.bot.name).memory" : nil
        }
    ) { request throws(APIError) in
        guard let path = request.user.bot.contact?.memory else {
            throw APIError(.badValue, "there is no memory")
        }
        let arguments = request.arguments
        let (text, section) = (arguments.text("text"), arguments.text("section"))
        switch arguments.text("action") {
        case "append":
            guard let text, section == nil else {
                throw APIError(.badValue, "append needs a text, and no section")
            }
            return try change(path) { MemoryText.appending(text, to: $0) }
        case "replace":
            guard let section, !section.contains(where: \.isNewline) else {
                throw APIError(.badValue, "replace needs a section: the heading, on one line")
            }
            let title = section.split(separator: " ").joined(separator: " ")
            return try change(path) { MemoryText.replacing(title, by: text ?? "", in: $0) }
        default:
            guard text == nil, section == nil else {
                throw APIError(.badValue, "read needs neither text nor section")
            }
            let now = try content(of: path)
            return now.isEmpty ? "your memory is empty" : now
        }
    }

    private static func change(_ path: String, _ edit: (String) -> String) throws(APIError) -> String {
        try writing.withLock { _ throws(APIError) in
            let text = edit(try content(of: path))
            let count = text.utf8.count
            guard count <= MemoryFile.limit else {
                throw APIError(
                    .badValue, "your memory would have \(count) bytes, and has at most \(MemoryFile.limit)",
                    hint: "Replace a section by something shorter.")
            }
            do throws(HostError) {
                try SmallFile.replace(path, with: Array(text.utf8), isDurable: true)
            } catch {
                throw APIError(.badValue, "your memory can't be written: \(error.reason)")
            }
            return "kept: your memory has \(count) of \(MemoryFile.limit) bytes"
        }
    }

    /// What the file says; nothing where there is none yet.
    private static func content(of path: String) throws(APIError) -> String {
        do throws(HostError) {
            return try SmallFile.text(path, limit: MemoryFile.limit, mayBeLink: false)
        } catch  where error.isMissing {
            return ""
        } catch {
            throw APIError(.badValue, "your memory can't be read: \(error.reason)")
        }
    }
}
