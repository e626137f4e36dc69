import API
import Engine
import Grouping
import Ledger

// Links to questions: looking shows, and only a button answers.
extension Door {
    private static let closed = "the link is not valid"

    /// A request by the link of a question; nil: it is another one.
    func question(_ head: RequestHead) throws(APIError) -> Admission? {
        guard head.path.hasPrefix(QuestionLinks.lead), let links = handler.links else { return nil }
        try take(for: head.remote)
        guard ["GET", "POST"].contains(head.method) else {
            throw APIError(.badMethod, hint: "It takes GET and POST.")
        }
        let id = links.question(atPath: head.path)
        return Admission(bodyLimit: Self.bodyLimit) { [self] body in
            guard let id else { return QuestionPage.sentence(Self.closed, status: 410) }
            return await head.method == "POST" ? answer(id, body) : show(id, choice: head.query["choice"])
        }
    }

    /// The page, which answers nothing by itself.
    ///
    /// With the number of a choice that one comes first.
    private func show(_ id: String, choice: String? = nil) async -> APIResponse {
        do throws(EngineError) {
            let record = try await control.question(id)
            if let end = record.end { throw .questionClosed(id, end) }
            return QuestionPage.asking(record.question, first: choice.flatMap { UInt16($0) }.map(Int.init))
        } catch {
            return refusal(error)
        }
    }

    /// Answers with what a form brought: the button that was pressed, or a text.
    private func answer(_ id: String, _ body: [UInt8]) async -> APIResponse {
        let form = Query(String(decoding: body, as: UTF8.self).replacing("+", with: " "))
        let given = [form["answer"], form["text"]].compactMap(\.self).first { !$0.isEmpty }
        guard let given else { return await show(id) }
        do throws(EngineError) {
            let record = try await control.answer(id, given, by: "link")
            return QuestionPage.sentence("answered \"\(record.end?.answer ?? given)\"")
        } catch {
            return refusal(error)
        }
    }

    private func refusal(_ error: EngineError) -> APIResponse {
        let known = APIError(error)
        switch error {
        case .noSuchQuestion: return QuestionPage.sentence(Self.closed, status: 410)
        case .questionClosed: return QuestionPage.sentence(known.message, status: 410)
        default: return QuestionPage.sentence(known.sentence, status: known.code.row.status)
        }
    }
}
