import API
import Delivery
import Engine
import Prompting

/// What a bot reads of the web.
enum WebTools {
    static let all = [fetchURL, webSearch]

    private static let fetchURL = BotTool(
        "fetch_url", "Reads a web page, and returns its text. Only public https addresses are reached.",
        [
            ToolParameter("url", .text(limit: 4096), "The address, with https://.", isRequired: true),
            ToolParameter("from", .whole(0...WebPage.limit), "The byte of the text from which on to read."),
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
