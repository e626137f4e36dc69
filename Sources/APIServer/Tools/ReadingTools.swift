import API
import Delivery
import Engine
import Host
import Prompting
import Tracking

/// What a bot reads of the machine: the folders that its configuration names, and nothing outside of them.
enum FileTools {
    static let all = [readFile, listFiles]

    /// The most bytes of a file that one call returns.
    private static let pieceLimit = 60 * 1024
    /// The most names of a folder that one call returns.
    private static let mostNames = 500

    private static let noFolders: @Sendable (ToolUser) -> String? = { user in
        user.bot.contact?.readable.isEmpty == false
            ? nil : "no folder may be read; the person can name one in bots.\(user.bot.name).sandbox"
    }

    private static let readFile = BotTool(
        "read_file", "Reads a text file in the folders that you may read.",
        [
            ToolParameter(
                "path", .text(limit: 4096), "Its path: absolute, or from the first of the folders on.",
                isRequired: true),
            ToolParameter("from", .whole(0...1 << 40), "The byte to start reading at; 0 if left out."),
        ], isRepeatable: true, obstacle: noFolders
    ) { request throws(APIError) in
        let place = try Place(request)
        let offset = request.arguments.whole("from") ?? 0
        let part: ConfinedFolder.Part
        do throws(HostError) {
            part = try place.folder.read(place.names, from: offset, limit: pieceLimit)
        } catch {
            throw place.refusal(error)
        }
        guard !part.bytes.contains(0) else {
            throw APIError(.badValue, "\(place.shown) is no text: it has \(part.size) bytes")
        }
        guard offset < part.size || part.size == 0 else {
            throw APIError(.badValue, "from: \(place.shown) has only \(part.size) bytes")
        }
        if part.size == 0 { return "\(place.shown) is empty" }
        let end = offset + part.bytes.count
        let text = String(decoding: part.bytes, as: UTF8.self)
        return end < part.size ? text + "\n… of \(part.size) bytes; read on from \(end)" : text
    }

    private static let listFiles = BotTool(
        "list_files", "Lists a folder: those that you may read, or one below them.",
        [
            ToolParameter(
                "path", .text(limit: 4096), "Its path; the folders that you may read if left out.")
        ], isRepeatable: true, obstacle: noFolders
    ) { request throws(APIError) in
        guard request.arguments.text("path") != nil else {
            return (request.user.bot.contact?.readable ?? []).joined(separator: "\n")
        }
        let place = try Place(request)
        let entries: [ConfinedFolder.Entry]
        do throws(HostError) { entries = try place.folder.list(place.names) } catch {
            throw place.refusal(error)
        }
        var lines = entries.prefix(mostNames).map { entry in
            let name = CleanText.line(entry.name, limit: 255)
            switch entry.kind {
            case .folder: return name + "/"
            case .file: return "\(name)  \(entry.size) bytes"
            case .link: return "\(name)  a link, which is not followed"
            case .other: return "\(name)  neither a file nor a folder"
            }
        }
        if entries.count > mostNames { lines.append("… \(entries.count - mostNames) more") }
        return lines.isEmpty ? "\(place.shown) is empty" : lines.joined(separator: "\n")
    }

    /// A path that a call names, inside of a folder that the bot may read.
    private struct Place {
        let folder: ConfinedFolder
        /// The names below the folder.
        let names: [String]
        /// The path as people read it.
        let shown: String

        init(_ request: ToolRequest) throws(APIError) {
            let folders = request.user.bot.contact?.readable ?? []
            let path = request.arguments.text("path") ?? ""
            shown = CleanText.line(path, limit: 200)
            let parts = Self.parts(path)
            guard !parts.contains("..") else {
                throw APIError(.badValue, "\(shown): a path has no \"..\"", hint: Self.known(folders))
            }
            guard path.hasPrefix("/") else {
                guard let first = folders.first else { throw APIError(.badValue, "no folder may be read") }
                (folder, names) = (ConfinedFolder(first), parts)
                return
            }
            // The innermost folder that holds it.
            let holders = folders.filter { parts.starts(with: Self.parts($0)) }
            guard let holder = holders.max(by: { Self.parts($0).count < Self.parts($1).count }) else {
                throw APIError(
                    .badValue, "\(shown) is outside of the folders that you may read",
                    hint: Self.known(folders))
            }
            folder = ConfinedFolder(holder)
            names = Array(parts.dropFirst(Self.parts(holder).count))
        }

        private static func parts(_ path: String) -> [String] {
            path.split(separator: "/").map(String.init).filter { $0 != "." }
        }

        private static func known(_ folders: [String]) -> String {
            "You may read: \(folders.joined(separator: ", "))."
        }

        /// Why it can't be read, in a sentence for the bot.
        func refusal(_ error: HostError) -> APIError {
            switch error {
            case .malformed(_, let problem): APIError(.badValue, "\(shown): \(problem)")
            default: APIError(.badValue, "\(shown) can't be read: \(error.reason)")
            }
        }
    }
}

/// What a bot reads of the web.
enum WebTools {
    static let all = [fetchURL, webSearch]

    private static let fetchURL = BotTool(
        "fetch_url", "Reads a web page, and returns its text. Only public https addresses are reached.",
        [
            ToolParameter("url", .text(limit: 4096), "The address, with https://.", isRequired: true),
            ToolParameter("from", .whole(0...WebPage.limit), "The byte of the text to start reading at."),
        ], isRepeatable: true
    ) { request throws(APIError) in
        let web = request.user.bot.contact?.web ?? BotWeb()
        let url = request.arguments.text("url") ?? ""
        return try await request.world.fetch(
            WebPage(address: url, from: request.arguments.whole("from") ?? 0), web
        ).textOrError()
    }

    private static let webSearch = BotTool(
        "web_search", "Searches the web: titles, addresses and a few words of each result.",
        [
            ToolParameter("query", .text(limit: 400), "What to search for.", isRequired: true),
            ToolParameter("count", .whole(1...20), "How many results; 5 if left out."),
        ], isRepeatable: true,
        obstacle: { user in
            user.bot.contact?.web.search == nil
                ? "no search is set up; the person can in bots.\(user.bot.name).web.search" : nil
        }
    ) { request throws(APIError) in
        guard let contact = request.user.bot.contact, let service = contact.web.search else {
            throw APIError(.badValue, "no search is set up")
        }
        let query = WebQuery(
            words: request.arguments.text("query") ?? "", count: request.arguments.whole("count") ?? 5,
            key: contact.secrets[BotInUse.searchKey].first)
        return try await request.world.search(query, service).textOrError()
    }
}

/// A page that a bot wants to read.
package struct WebPage: Sendable {
    /// Where it is.
    package let address: String
    /// The byte of its text from which on it is wanted.
    package let from: Int

    /// The most bytes of a page.
    package static let limit = 2 << 20
}

/// A search that a bot wants.
package struct WebQuery: Sendable {
    /// What is searched for.
    package let words: String
    /// How many results are wanted.
    package let count: Int
    /// The service's key; nil: it wants none.
    package let key: String?
}

extension ToolAnswer {
    fileprivate func textOrError() throws(APIError) -> String {
        guard isError else { return text }
        throw APIError(.badValue, text)
    }
}
