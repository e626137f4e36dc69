import API
import Engine

/// What a bot says while it works.
enum MessageTools {
    static let all = [sendMessage]

    private static let sendMessage = BotTool(
        "send_message",
        "Sends a message to the person at once. What you reply at the end is sent anyway: use this for what must not wait for it.",
        [
            ToolParameter("text", .text(limit: 20_000), "What to say, in Markdown.", isRequired: true),
            ToolParameter("title", .text(limit: 200), "A line above it."),
            ToolParameter(
                "urgency", .choice(["low", "normal", "critical"]), "How much it disturbs; normal if left out."
            ),
        ]
    ) { request throws(APIError) in
        var notice = NotifyRequest(text: request.arguments.text("text") ?? "")
        notice.bot = request.user.bot.name
        notice.thread = request.user.thread
        notice.title = request.arguments.text("title")
        notice.urgency = request.arguments.text("urgency")
        let message = try await request.daemon.notify(notice)
        return "sent as message \(message.id)"
    }
}
