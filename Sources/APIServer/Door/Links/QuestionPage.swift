import API
import Grouping
import Timeline

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
        let deadline = question.deadline.map { "<p>Until \(escaped($0.iso8601))</p>" } ?? ""
        return page(
            200, "Question",
            "<h1>\(escaped(question.asker)) asks</h1>\n<p class=\"text\">\(escaped(question.text))</p>\n\(deadline)\n"
                + "<form method=\"post\">\n\(form)\n</form>")
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
