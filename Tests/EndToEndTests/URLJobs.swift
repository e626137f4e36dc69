import Foundation
import TestSupport
import Testing

/// Jobs that call a web address, and a real server behind it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a job that is a url` {
    @Test func `calls its address with its secret, and keeps, reports and retries what comes back`()
        async throws
    {
        let server = try await ProviderServer(
            .init("the token tok-12345 is too old\n", status: 503, type: "text/plain"),
            .init("42 widgets in stock\n", type: "text/plain"))
        let hook = try await Belfry.receiver()
        let belfry = try Belfry(hook: hook)
        try belfry.write("tok-12345\n", to: "token")
        try belfry.configure(
            """
            jobs:
              stock:
                schedule: manual
                url:
                  url: \(server.url("/stock?all"))
                  headers: { X-Token: { file: \(belfry.folder.file("token")) } }
                  body: "how many?"
                  allow: [127.0.0.1/32]
                notify: { message: output }
              again:
                schedule: manual
                url: { url: "\(server.url("/again"))", allow: 127.0.0.1 }
                retry: { attempts: 2, backoff: 1s }
            """)
        try await belfry.start()
        let failed = try await belfry.run("run", "stock", "--follow")
        #expect(failed.code == 1)
        let row = try await belfry.json("run", "show", "stock#1")
        #expect(row["state"].text == "failed" && row["reason"].text == "httpStatus")
        let shown = try await belfry.run("run", "show", "stock#1").text
        #expect(shown.contains("answered 503: the token *** is too old"))
        #expect(!shown.contains("tok-12345") && !shown.contains("?all"))
        let request = try await server.request()
        #expect(request.method == "POST" && request.path == "/stock?all" && request.body == "how many?")
        #expect(request.headers["x-token"] == "tok-12345")
        let failure = try await hook.webhook { $0.type == "run.failed" }
        #expect(!"\(failure)".contains("tok-12345"))

        #expect(try await belfry.run("run", "stock", "--follow").code == 0)
        #expect(try await belfry.run("run", "logs", "stock#2").text.hasPrefix("42 widgets in stock"))
        let messages = try await belfry.json("messages").list
        #expect(messages.map { $0["text"].text } == ["42 widgets in stock"])
        #expect(try await belfry.run("run", "again", "--follow").code == 0)
    }

    @Test func `is made, changed and shown on the command line`() async throws {
        let belfry = try await Belfry.start()
        try await belfry.run(
            "job", "add", "ping", "--url", "https://example.org/health", "--header", "X-A=b", "--expect",
            "200,204")
        let job = try await belfry.json("job", "show", "ping")
        #expect(job["kind"].text == "url" && job["url"].text == "https://example.org/health")
        #expect(job["headers"].list.map(\.text) == ["X-A"] && job["method"].text == "GET")
        let shown = try await belfry.run("job", "show", "ping").text
        #expect(shown.contains("GET https://example.org/health") && shown.contains("200 204"))
        try await belfry.run("job", "edit", "ping", "--method", "HEAD", "--expect", "")
        let text = try await belfry.run("job", "export", "ping").text
        #expect(text.contains("url: \"https://example.org/health\"") && text.contains("method: HEAD"))
        let refused = try await belfry.run(
            "job", "add", "inner", "--url", "http://127.0.0.1:1/")
        #expect(refused.code == 2)
        #expect(refused.errors.contains("plain http goes only to hosts that url.allow names"))
        #expect(refused.errors.contains("--allow 127.0.0.1"))
        let bare = try await belfry.run("job", "add", "bare", "--method", "PUT")
        #expect(bare.code == 2)
        #expect(bare.errors.contains("applies only to a job with a url"))
    }
}
