import Delivery
import TestSupport
import Testing
import Tracking

@Suite struct `a template` {
    private let values = JSON.object([
        "title": .string("a \"b\" <c>"),
        "run": .object(["exitCode": .int(3), "tags": .array([.string("x"), .string("y")])]),
        "links": .array([
            .object(["label": .string("Yes"), "url": .string("https://e.org/1")]),
            .object(["label": .string("No"), "url": .string("https://e.org/2")]),
        ]), "body": .string(""), "ok": .bool(false),
    ])
    private let names: Set<String> = ["title", "run", "links", "body", "ok", "none"]

    private func render(_ text: String, _ escaping: Template.Escaping = .none) throws -> String {
        try Template(text, escaping: escaping, names: names).render(values)
    }

    @Test(arguments: [
        ("no tags {x} }} {", "no tags {x} }} {"),
        ("{{title}}", "a \"b\" <c>"),
        ("{{ title }}{{!a comment\nof two lines}}!", "a \"b\" <c>!"),
        ("{{run.exitCode}}{{run.nothing}}{{none}}{{run.exitCode.deeper}}", "3"),
        ("{{#links}}{{label}}={{url}};{{/links}}", "Yes=https://e.org/1;No=https://e.org/2;"),
        ("{{#run}}{{#tags}}{{.}}{{exitCode}}{{/tags}}{{/run}}", "x3y3"),
        (
            "{{#body}}never{{/body}}{{^body}}empty{{/body}}{{#ok}}never{{/ok}}{{^none}}none{{/none}}",
            "emptynone"
        ),
        ("{{#title}}once {{/title}}", "once "),
        ("{{{run}}}", #"{"exitCode":3,"tags":["x","y"]}"#),
    ])
    func `is filled in`(_ text: String, _ filled: String) throws {
        #expect(try render(text) == filled)
    }

    @Test func `escapes values for what it is, unless it is told not to`() throws {
        #expect(try render("\"{{title}}\"", .json) == #""a \"b\" <c>""#)
        #expect(try render("t={{title}}", .form) == "t=a%20%22b%22%20%3Cc%3E")
        #expect(try render("{{{title}}}{{&title}}", .json) == "a \"b\" <c>a \"b\" <c>")
    }

    @Test(arguments: [
        ("{{titel}}", 0..<9), ("a {{title", 2..<9), ("{{#links}}x", 0..<10), ("x{{/links}}", 1..<11),
        ("{{#links}}{{/run}}", 10..<18), ("{{}}", 0..<4), ("{{a..b}}", 0..<8), ("{{{title}}", 0..<10),
    ])
    func `is refused where it could not be filled in, with the place`(_ text: String, _ range: Range<Int>) {
        let fault = #expect(throws: Template.Fault.self) { try render(text) }
        #expect(fault?.range == range, "\(fault?.message ?? "")")
    }

    @Test(arguments: ["", "{{!}}", "{{none}}"])
    func `comes to an end where sections are nested deeply and empty`(_ inner: String) throws {
        let text =
            String(repeating: "{{#list}}", count: 16) + inner + String(repeating: "{{/list}}", count: 16)
        let list = JSON.array((0..<1000).map { .int($0) })
        let template = try Template("a\(text)b", escaping: .none, names: ["list"])
        #expect(template.render(.object(["list": list])) == "a")
        #expect(template.render(.object(["list": .array([.int(1)])])).hasPrefix("a"))
    }

    @Test func `may be anything`() {
        var numbers = SeededGenerator(seed: 3)
        let pieces = [
            "{{", "}}", "{{{", "}}}", "#", "/", "^", "!", ".", "links", "title", " ", "\n", "é", "{", "}",
        ]
        for _ in 0..<20_000 {
            let text = (0..<numbers.below(12)).map { _ in pieces[numbers.below(pieces.count)] }.joined()
            _ = try? render(text, .json)
        }
    }
}

@Suite struct `a service by a template` {
    private func form(_ body: String, _ more: KeyValuePairs<String, String> = [:]) throws -> TemplateForm {
        var values = FormValues()
        values["url"] = .address(try HTTPAddress("https://chat.example.org/v1"))
        values["body"] = .word(body)
        for (key, value) in more { values[key] = .word(value) }
        return try TemplateForm(values)
    }

    @Test func `is sent what the file says`() throws {
        let form = try form(
            #"{"text": "{{title}}: {{body}}"{{#run.exitCode}}, "code": {{run.exitCode}}{{/run.exitCode}}, "level": "{{urgency}}"}"#,
            ["method": "PUT"])
        let request = form.sent(Sample.failure(text: "no \"tape\""), ["token": "t0k3n"])
        let json = try #require(JSON(parsing: request.body[...]))
        #expect(json["text"]?.text?.contains("no \"tape\"") == true)
        #expect(json["code"]?.int == 3 && json["level"]?.text == "critical")
        #expect(request.method == "PUT" && request.url == "https://chat.example.org/v1")
        #expect(request.headers.contains(.init("Authorization", "Bearer t0k3n")))
        #expect(!String(decoding: request.body, as: UTF8.self).contains("t0k3n"))
    }

    @Test(arguments: [
        ("{\"text\": {{title}}}", "it is no JSON"),
        ("{\"text\": \"{{titel}}\"}", "there is no value \"titel\""),
        ("{\"run\": {{{run}}}}", "it is no JSON"), ("{{#run}}", "has no end"),
        ("{\"a\": 1{{#run}}, \"code\": {{exitCode}}{{/run}}}", "it is no JSON"),
    ])
    func `is refused at load, not at the first failure`(_ body: String, _ message: String) {
        let error = #expect(throws: FormError.self) { try form(body) }
        #expect("\(error.map { "\($0)" } ?? "")".contains(message))
    }

    @Test func `may name what is always there without a section`() throws {
        _ = try form(
            "{\"a\": 1{{#item}}, \"count\": {{count}}{{/item}}{{#run}}, \"try\": {{attempt}}{{/run}}}")
    }

    @Test func `may want a form or plain text`() throws {
        let pushed = try form(
            "message={{title}}&priority=1", ["contentType": "application/x-www-form-urlencoded"])
        let body = String(decoding: pushed.render(Sample.texts(title: "a&b=c", body: "")), as: UTF8.self)
        #expect(body == "message=a%26b%3Dc&priority=1")
        let plain = try form("{{title}}\n{{body}}", ["contentType": "text/plain"])
        #expect(String(decoding: plain.render(Sample.texts(title: "t", body: "b")), as: UTF8.self) == "t\nb")
    }
}
