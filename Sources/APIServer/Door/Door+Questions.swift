import API
import Crypto
import Engine
import Grouping
import Host
import Ledger
import Timeline
import Tracking

// Links to questions: looking shows, and only a button answers.
extension Door {
    private static let closed = "the link is not valid"

    /// A request by the link of a question; nil: it is another one.
    func question(_ head: RequestHead) throws(APIError) -> Admission? {
        guard head.path.hasPrefix(QuestionLinks.lead), let links = handler.links else { return nil }
        try take(for: head.remote)
        guard ["GET", "HEAD", "POST"].contains(head.method) else {
            throw APIError(.badMethod, hint: "It takes GET, HEAD and POST.")
        }
        let id = links.question(atPath: head.path)
        return Admission(bodyLimit: Self.bodyLimit) { [self] body in
            guard let id else {
                let page = QuestionPage.sentence(Self.closed, status: 410)
                return head.method == "HEAD" ? page.withoutBody : page
            }
            if head.method == "POST" { return await answer(id, body) }
            let page = await show(id, choice: head.query["choice"])
            return head.method == "HEAD" ? page.withoutBody : page
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

/// Makes and checks the links by which questions are answered.
///
/// A link has the id of the question, and a code that only this daemon can make. It needs no row: it ends with its
/// question.
package struct QuestionLinks: Sendable {
    /// What the paths of links begin with.
    static let lead = "/q/"

    private let key: SymmetricKey

    /// Links that are signed with `key`.
    init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// The links of a daemon with this state folder, whose key is made at first.
    ///
    /// - Throws: `HostError` when the key can be neither read nor made.
    package static func inState(_ state: String) throws -> QuestionLinks {
        let path = state + "/door/link.key"
        do throws(HostError) {
            let text = try SmallFile.text(path)
            if let bytes = Base64.decode(text), bytes.count == 32 { return QuestionLinks(key: bytes) }
        } catch  where !error.isMissing {
            // A key that can't be read now is not thrown away: links that people have would lose their meaning.
            throw error
        } catch {}
        let bytes = DoorToken.bytes()
        try PrivateFolder.make(state + "/door", within: state)
        try SmallFile.replace(path, with: Array((Base64.encode(bytes) + "\n").utf8), isDurable: true)
        return QuestionLinks(key: bytes)
    }

    /// The path of the link to a question: `/q/ID.CODE`.
    package func path(of question: String) -> String {
        let code = DoorToken.plain(Base64.encode(Array(code(of: question).prefix(16))))
        return "\(Self.lead)\(question).\(code)"
    }

    /// The key in the address of an expectation with this seed: without the secret of the daemon nobody can make it.
    func pingKey(of seed: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("ping \(seed)".utf8), using: key)
        return DoorToken.plain(Base64.encode(Array(code.prefix(24))))
    }

    /// The question that a link leads to; nil: the link is forged.
    func question(atPath path: String) -> String? {
        guard path.hasPrefix(Self.lead), let dot = path.lastIndex(of: ".") else { return nil }
        let id = String(path.dropFirst(Self.lead.count)[..<dot])
        let (given, right) = (Array(path.utf8), Array(self.path(of: id).utf8))
        guard given.count == right.count else { return nil }
        // Looked at to the end, wherever the first difference is.
        return zip(given, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 ? id : nil
    }

    private func code(of question: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("question \(question)".utf8), using: key))
    }
}

/// The page behind the link of a question: works without scripts, and without anything from elsewhere.
struct QuestionPage {
    private static let fields = [
        "content-security-policy":
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
            + "frame-ancestors 'none'",
        "referrer-policy": "no-referrer", "cache-control": "no-store", "x-content-type-options": "nosniff",
        "x-robots-tag": "noindex",
    ]

    /// The question with a button for each choice, and a field where any text is an answer.
    ///
    /// The choice with the number `first`, from 1, stands before the others.
    static func asking(_ question: Question, first: Int? = nil) -> APIResponse {
        var choices = question.choices
        if let first, first > 0, first <= choices.count {
            choices.insert(choices.remove(at: first - 1), at: 0)
        }
        var form = choices.map {
            "<button name=\"answer\" value=\"\(escaped($0))\">\(escaped($0))</button>"
        }.joined(separator: "\n")
        if question.takesText {
            form +=
                "\n<p><input name=\"text\" aria-label=\"Answer\" maxlength=\"4000\"> <button>Send</button></p>"
        }
        let deadline = question.deadline.map { "<p>Open until \(minute(of: $0))</p>" } ?? ""
        return page(
            200, "Question",
            "<h1>\(escaped(question.asker)) asks</h1>\n<p class=\"text\">\(escaped(question.text))</p>\n\(deadline)\n"
                + "<form method=\"post\">\n\(form)\n</form>")
    }

    /// `2026-03-29 01:00 UTC`: the reader may be in any zone.
    private static func minute(of moment: Moment) -> String {
        let text = moment.iso8601
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
    }

    /// A sentence.
    static func sentence(_ text: String, status: Int = 200) -> APIResponse {
        let first = text.prefix(1).uppercased() + text.dropFirst()
        return page(status, "Question", "<p>\(escaped(first + (first.hasSuffix(".") ? "" : ".")))</p>")
    }

    /// Text as a part of a page, whoever wrote it.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }

    private static func page(_ status: Int, _ title: String, _ body: String) -> APIResponse {
        let text = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>\(title)</title>
            <meta name="viewport" content="width=device-width">
            <style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}
            .text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext}
            button,input{font:inherit;padding:.5rem 1rem;margin:.25rem .25rem .25rem 0}</style></head>
            <body>
            \(body)
            </body></html>

            """
        return .whole(
            status: status, contentType: "text/html; charset=utf-8", bytes: Array(text.utf8), fields: fields)
    }
}
