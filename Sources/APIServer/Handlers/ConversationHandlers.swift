import API
import Cron
import Engine
import Ledger
import Timeline
import Tracking

extension DaemonHandler {
    func say(_ bot: String, _ asked: SayRequest) async throws(APIError) -> WireMessage {
        var draft = MessageDraft(to: bot, asked.text)
        (draft.id, draft.replyTo, draft.thread) = (asked.id, asked.replyTo, asked.thread)
        draft.file = try Self.file(of: asked)
        guard draft.file != nil || !asked.text.allSatisfy(\.isWhitespace) else {
            throw APIError(.badValue, "there is nothing to say: the text is empty")
        }
        guard asked.text.utf8.count <= Self.longestText else {
            throw APIError(
                .tooLarge, "the text is longer than \(Self.longestText / 1024) KiB",
                hint: "Send it as a file: belfry send \(bot) TEXT --file PATH")
        }
        if let id = asked.id, !SpooledFile.isID(id) {
            throw APIError(.badValue, "id is not a UUID in lower case")
        }
        if let thread = asked.thread { try Self.check(thread, "thread", limit: 100) }
        do throws(EngineError) {
            return WireMessage(try await control.send(draft))
        } catch .noSuchBot {
            // With its hint, or as one that only speaks for its jobs.
            _ = try await self.bot(bot)
            throw APIError(EngineError.silentBot(bot))
        } catch {
            throw APIError(error)
        }
    }

    /// The longest text of one message.
    static let longestText = 256 * 1024

    private static func file(
        of asked: SayRequest
    ) throws(APIError) -> (note: AttachmentNote, content: [UInt8])? {
        guard let name = asked.fileName else { return nil }
        try check(name, "the name of a file", limit: 255)
        guard let content = asked.fileContent.flatMap(Base64.decode) else {
            throw APIError(.badValue, "fileContent is not base64")
        }
        guard content.count <= AttachmentNote.limit else {
            throw APIError(.tooLarge, "a file has at most \(AttachmentNote.limit / 1024 / 1024) MiB")
        }
        return (AttachmentNote(name: name, bytes: content.count), content)
    }

    /// A word that is shown, and sent to bots, is one line.
    static func check(_ text: String, _ what: String, limit: Int) throws(APIError) {
        guard !text.allSatisfy(\.isWhitespace), text.count <= limit else {
            throw APIError(.badValue, "\(what) has 1 to \(limit) characters")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw APIError(.badValue, "\(what) contains a control character", hint: "Write it on one line.")
        }
    }

    func reply(_ id: String, _ query: ReplyQuery) async throws(APIError) -> WireReply {
        let message = try await asking(await control.message(id))
        let said = try await asking(
            await control.reply(to: message, within: .milliseconds(query.wait)))
        var reply = WireReply()
        if let run = said.run { reply.run = await shown(run) }
        reply.message = said.message.map { WireMessage($0) }
        return reply
    }

    func react(_ id: String, _ asked: ReactionRequest) async throws(APIError) -> WireMessage {
        try Self.check(asked.word, "a reaction", limit: 40)
        return WireMessage(try await asking(await control.react(asked.word, to: id)))
    }

    func reset(_ name: String) async throws(APIError) {
        _ = try await bot(name)
        try await asking(await control.reset(name))
    }
}
