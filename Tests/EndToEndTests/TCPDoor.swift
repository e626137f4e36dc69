import Foundation
import TestSupport
import Testing

/// The binaries, with the API served over TCP.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the door over TCP` {
    private func start(_ listen: String = "{ address: 127.0.0.1:0 }") async throws -> (Belfry, port: Int) {
        let belfry = try Belfry()
        try belfry.write(
            """
            channels:
              notes: { kind: command, command: [sh, -c, 'cat >>\(belfry.folder.file("notes"))'] }
            routes:
              - { when: [failed, question], to: [notes] }
            listen: \(listen)
            jobs:
              deploy: { schedule: manual, shell: cat }

            """, to: "belfry.yaml")
        try await belfry.start()
        let line = try await belfry.logged("serving the API over TCP")
        let port = try #require(line.firstMatch(of: /port="?([0-9]+)/).flatMap { Int($0.1) })
        return (belfry, port)
    }

    private func token(_ belfry: Belfry, _ name: String, _ scopes: String...) async throws -> String {
        let made = try await belfry.run(
            "belfry", ["token", "add", name] + scopes.flatMap { ["--scope", $0] })
        #expect(made.code == 0, "\(made)")
        return made.lines.first ?? ""
    }

    /// The status of a request by curl, and what was answered.
    private func curl(_ belfry: Belfry, _ words: String) async throws -> (status: String, text: String) {
        let answer = try await belfry.shell("curl -s -w '\\n%{http_code}' \(words)")
        let lines = answer.text.split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.dropLast().joined(separator: "\n")
        return (lines.last.map(String.init) ?? "", String(text.hasSuffix("\n") ? text.dropLast() : text[...]))
    }

    @Test func `shows nothing without a token but that it is there`() async throws {
        let (belfry, port) = try await start()
        let base = "http://127.0.0.1:\(port)"
        #expect(try await curl(belfry, "\(base)/healthz") == ("200", "ok"))
        for path in ["/v1/status", "/v1/jobs", "/readyz", "/v1/openapi.json", "/nothing/at/all", "/"] {
            let answer = try await curl(belfry, base + path)
            #expect(answer.status == "401" && answer.text.contains("E1360"), "\(path) \(answer)")
        }
        let forged = try await curl(belfry, "-H 'Authorization: Bearer bft_forged' \(base)/v1/status")
        #expect(forged.status == "401")
        let head = try await belfry.shell("curl -s -D - -o /dev/null \(base)/v1/status")
        #expect(head.text.lowercased().contains("www-authenticate: bearer"))
    }

    @Test func `does what a token allows, however it is sent, until it is removed`() async throws {
        let (belfry, port) = try await start()
        let base = "http://127.0.0.1:\(port)"
        let secret = try await token(belfry, "phone", "read", "publish")
        #expect(secret.hasPrefix("bft_") && secret.utf8.count > 40)
        let basic = Data("any:\(secret)".utf8).base64EncodedString()
        let inURL = Data("Bearer \(secret)".utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        for words in [
            "-H 'Authorization: Bearer \(secret)' \(base)/v1/status",
            "-H 'Authorization: Basic \(basic)' \(base)/v1/status", "-u ':\(secret)' \(base)/v1/status",
            "'\(base)/v1/status?auth=\(inURL)'",
        ] {
            #expect(try await curl(belfry, words).status == "200", "\(words)")
        }
        let said = try await curl(
            belfry, "-H 'Authorization: Bearer \(secret)' --json '{\"text\":\"hello\"}' \(base)/v1/notify")
        #expect(said.status == "201", "\(said)")
        #expect(try await belfry.json("messages").list.first?["text"].text == "hello")
        let admin = try await curl(
            belfry, "-H 'Authorization: Bearer \(secret)' -X POST \(base)/v1/reload")
        #expect(admin.status == "403" && admin.text.contains("it lacks admin"), "\(admin)")
        let listed = try await belfry.run("token", "list", "--json")
        #expect(listed.text.contains("phone") && !listed.text.contains(secret))
        // Kept nowhere: not in the ledger, and not in a log.
        let found = try await belfry.shell("grep -rlF '\(secret)' '\(belfry.statePath)' || echo none")
        #expect(found.text == "none\n", "\(found)")
        #expect(try await belfry.run("token", "add", "phone", "--scope", "read").code == 5)
        #expect(try await belfry.run("token", "rm", "phone").code == 0)
        #expect(try await belfry.run("token", "rm", "phone").code == 4)
        #expect(
            try await curl(belfry, "-H 'Authorization: Bearer \(secret)' \(base)/v1/status").status == "401")
    }

    @Test func `refuses what is too large, and too much at once`() async throws {
        let (belfry, port) = try await start()
        let base = "http://127.0.0.1:\(port)"
        let secret = try await token(belfry, "loud", "publish")
        try belfry.write(
            "{\"text\":\"" + String(repeating: "a", count: 65_536 - 11) + "\"}", to: "fits")
        try belfry.write(
            "{\"text\":\"" + String(repeating: "a", count: 65_536 - 10) + "\"}", to: "large")
        let post = "-H 'Authorization: Bearer \(secret)' -H 'Expect:' \(base)/v1/notify --json"
        #expect(try await curl(belfry, "\(post) @large").status == "413")
        #expect(try await curl(belfry, "\(post) @fits").status == "201")
        // Nobody has sent 60 yet; the rest of a burst of 70 in one second can't all be allowed.
        let burst = try await belfry.shell(
            "curl -s -o /dev/null -w '%{http_code}\\n' -H 'Authorization: Bearer \(secret)' "
                + "'\(base)/v1/status?n=[1-90]'")
        #expect(burst.lines.count == 90)
        #expect(burst.lines.filter { $0 == "403" }.count >= 58, "\(burst)")
        #expect(burst.lines.contains("429"), "\(burst)")
        let other = try await token(belfry, "calm", "read")
        #expect(
            try await curl(belfry, "-H 'Authorization: Bearer \(other)' \(base)/v1/status").status == "200")
        #expect(try await curl(belfry, "\(base)/healthz").status == "200")
    }

    @Test func `runs all the same when its port is taken, and reports it`() async throws {
        let (first, port) = try await start()
        let second = try Belfry()
        try second.write("listen: { address: 127.0.0.1:\(port) }\n", to: "belfry.yaml")
        try await second.start()
        try await second.logged("the API is not served over TCP")
        let status = try await second.run("status", "--json")
        #expect(status.code == 0 && status.text.contains("notListening"), "\(status)")
        try second.write("zone: UTC\n", to: "belfry.yaml")
        #expect(try await second.run("reload").code == 0)
        let good = try await second.shell(
            "while belfry status --json | grep -q notListening; do :; done; echo good")
        #expect(good.text == "good\n")
        #expect(try await first.run("status").code == 0)
    }

    @Test func `speaks TLS where a certificate is given`() async throws {
        let certificate = try SelfSignedCertificate(for: "localhost")
        let (belfry, port) = try await start(
            "{ address: 127.0.0.1:0, tls: { certificate: \(certificate.certificate), key: \(certificate.key) } }"
        )
        let ok = try await curl(
            belfry, "--cacert \(certificate.certificate) https://localhost:\(port)/healthz")
        #expect(ok == ("200", "ok"))
        let plain = try await belfry.shell("curl -s http://127.0.0.1:\(port)/healthz || echo refused")
        #expect(plain.text.contains("refused"), "\(plain)")
    }

    @Test func `follows a reload, and is closed by one`() async throws {
        let (belfry, port) = try await start()
        let text = try String(contentsOfFile: belfry.configPath, encoding: .utf8)
        try belfry.write(text.replacing("127.0.0.1:0", with: "127.0.0.1:\(port)"), to: "belfry.yaml")
        #expect(try await belfry.run("reload").code == 0)
        _ = try await belfry.logged("127.0.0.1:\(port)")
        let open = try await belfry.shell(
            "curl -s --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:\(port)/healthz")
        #expect(open.text == "ok\n", "\(open)")
        try belfry.write(
            text.split(separator: "\n").filter { !$0.hasPrefix("listen") }.joined(separator: "\n") + "\n",
            to: "belfry.yaml")
        #expect(try await belfry.run("reload").code == 0)
        // The connection that is refused is the end of the old listener, whenever that comes.
        let closed = try await belfry.shell(
            "while curl -s http://127.0.0.1:\(port)/healthz; do :; done; echo closed")
        #expect(closed.text.hasSuffix("closed\n"))
    }

    /// The calls are those of ntfy's documentation, with another address.
    @Test func `takes what is published as to ntfy`() async throws {
        let (belfry, port) = try await start()
        let secret = try await token(belfry, "script", "publish")
        let base = "http://127.0.0.1:\(port)"
        let auth = "-H 'Authorization: Bearer \(secret)'"
        for words in [
            "-d 'Backup successful' \(base)/mytopic", "-T - \(base)/mytopic </dev/null",
            #"-H 'Title: Unauthorized access detected' -H 'Priority: urgent' -H 'Tags: warning,skull,db1' "#
                + #"-H 'Click: https://home.nest.com/' -d 'Remote access to phils-laptop detected.' "#
                + "\(base)/phil_alerts",
            #"-d '{"topic":"Disks","message":"full","title":"db1","tags":["x"],"priority":4,"actions":"#
                + #"[{"action":"view","label":"Admin","url":"https://a.example/"}]}' "# + base,
            "-H 'Actions: view, Open portal, https://home.nest.com/; http, Close, https://api.example/' "
                + "-d 'You left the house.' \(base)/home",
            "-H 'ti: =?UTF-8?B?R3LDvMOfZQ==?=' -d 'encoded' \(base)/home",
            "'\(base)/home/publish?message=Triggered+by+GET&priority=min'",
        ] {
            let answer = try await curl(belfry, "\(auth) \(words.replacing("+by+GET", with: "%20by%20GET"))")
            #expect(
                answer.status == "200" && answer.text.contains(#""event":"message""#), "\(words) \(answer)")
        }
        let messages = try await belfry.json("messages").list
        #expect(
            messages.map { $0["bot"].text }
                == ["home", "home", "home", "disks", "phil_alerts", "mytopic", "mytopic"])
        #expect(messages[0]["text"].text == "Triggered by GET")
        #expect(messages[1]["title"].text == "Grüße")
        #expect(messages[2]["text"].text == "You left the house.\nOpen portal: https://home.nest.com/")
        #expect(messages[3]["title"].text == "❌ db1")
        #expect(messages[3]["text"].text == "full\nAdmin: https://a.example/")
        #expect(messages[4]["title"].text == "⚠️ 💀 Unauthorized access detected")
        #expect(
            messages[4]["text"].text
                == "Remote access to phils-laptop detected.\nhttps://home.nest.com/\nTags: db1")
        #expect(messages[5]["text"].text == "triggered")
    }

    @Test func `refuses topics and values that ntfy would not know either`() async throws {
        let (belfry, port) = try await start()
        let secret = try await token(belfry, "script", "publish")
        let auth = "-H 'Authorization: Bearer \(secret)'"
        for (words, sentence) in [
            ("-d a http://127.0.0.1:\(port)/v1", "a part of the API has this name"),
            ("-d a http://127.0.0.1:\(port)/READYZ", "a part of the API has this name"),
            ("-d a http://127.0.0.1:\(port)/-x", "a name begins with"),
            ("-d a -H 'Priority: 9' http://127.0.0.1:\(port)/ops", "no priority"),
            ("-d a -H 'Delay: 30m' http://127.0.0.1:\(port)/ops", "published at once"),
            ("-d a -H 'Actions: dance, Now' http://127.0.0.1:\(port)/ops", "no action"),
            ("-d '{}' http://127.0.0.1:\(port)/", "the topic is missing"),
            ("-d 'nothing' http://127.0.0.1:\(port)/", "JSON"),
            ("--data-binary \"$(printf '\\377\\376')\" http://127.0.0.1:\(port)/ops", "is not UTF-8"),
        ] {
            let answer = try await curl(belfry, "\(auth) \(words)")
            #expect(answer.status.hasPrefix("4") && answer.text.contains(sentence), "\(words) \(answer)")
        }
        let reader = try await token(belfry, "reader", "read")
        let answer = try await curl(
            belfry, "-H 'Authorization: Bearer \(reader)' -d a http://127.0.0.1:\(port)/ops")
        #expect(answer.status == "403")
        #expect(try await belfry.json("messages").list.isEmpty)
    }

    @Test func `starts a job by a hook, once for a delivery, with the body as its input`() async throws {
        let (belfry, port) = try await start()
        let url = "http://127.0.0.1:\(port)/v1/hooks/deploy"
        let made = try await belfry.run("token", "add", "own", "--job", "deploy")
        let secret = try #require(made.lines.first)
        let post = "-H 'Authorization: Bearer \(secret)' -H 'webhook-id: d1' --data-binary 'one two' \(url)"
        for _ in 0..<2 {
            let answer = try await curl(belfry, post)
            #expect(answer.status == "202" && answer.text.contains("deploy#1"), "\(answer)")
        }
        let log = try await belfry.shell(
            "until belfry run show deploy#1 --json | grep -q '\"state\":\"completed\"'; do :; done; "
                + "belfry run logs deploy#1")
        #expect(log.text == "one two", "\(log)")
        #expect(try await belfry.json("runs", "deploy").list.count == 1)
        // A token of one job starts no other one, and does nothing else.
        let other = "-H 'Authorization: Bearer \(secret)' -d x http://127.0.0.1:\(port)"
        #expect(try await curl(belfry, "\(other)/v1/hooks/else").status == "401")
        #expect(try await curl(belfry, "\(other)/ops").status == "403")
        try belfry.write(String(repeating: "a", count: (1 << 20) + 1), to: "large")
        let large = try await curl(
            belfry, "-H 'Authorization: Bearer \(secret)' -H 'Expect:' --data-binary @large \(url)")
        #expect(large.status == "413", "\(large)")
    }

    /// The codes are made by openssl.
    @Test func `starts a job by the signatures of services, and by no forged one`() async throws {
        let (belfry, port) = try await start()
        let url = "http://127.0.0.1:\(port)/v1/hooks/deploy"
        func hmac(_ text: String, _ secret: String) -> String {
            "$(printf '%s' '\(text)' | openssl dgst -sha256 -hmac '\(secret)' -r | cut -c1-64)"
        }
        let github = try #require(
            try await belfry.run("token", "add", "gh", "--job", "deploy", "--signed", "github").lines.first)
        let good = "-H \"X-Hub-Signature-256: sha256=\(hmac("{}", github))\""
        let first = try await curl(belfry, "\(good) -H 'X-GitHub-Delivery: 1' -d '{}' \(url)")
        #expect(first.status == "202" && first.text.contains("deploy#1"), "\(first)")
        // A listener sends it again under another id.
        let replayed = try await curl(belfry, "\(good) -H 'X-GitHub-Delivery: 2' -d '{}' \(url)")
        #expect(replayed.text.contains("deploy#1"), "\(replayed)")
        #expect(try await curl(belfry, "\(good) -d '{ }' \(url)").status == "401")
        let gitlab = try #require(
            try await belfry.run("token", "add", "gl", "--job", "deploy", "--signed", "gitlab").lines.first)
        let forged = try await curl(belfry, "-H 'X-Gitlab-Token: \(gitlab)x' -d '{}' \(url)")
        #expect(forged.status == "401")
        let slack = "8f742231b10e8888abcd99yyyzzz85a5"
        let added = try await belfry.run(
            "belfry", ["token", "add", "sl", "--job", "deploy", "--signed", "slack", "--secret", "-"],
            input: slack + "\n")
        #expect(added.code == 0, "\(added)")
        let body = #"{"type":"url_verification","challenge":"3eZbrw1aB10"}"#
        func signed(_ time: String) -> String {
            "-H \"X-Slack-Request-Timestamp: \(time)\" -H \"X-Slack-Signature: v0="
                + "$(printf 'v0:%s:%s' \"\(time)\" '\(body)' | openssl dgst -sha256 -hmac '\(slack)' -r | cut -c1-64)\""
        }
        let now = try await curl(belfry, "\(signed("$(date +%s)")) -d '\(body)' \(url)")
        #expect(now == ("200", "3eZbrw1aB10"))
        let old = try await curl(belfry, "\(signed("$(($(date +%s) - 400))")) -d '\(body)' \(url)")
        #expect(old.status == "401", "\(old)")
        let files = try await belfry.shell("stat -c %a \(belfry.statePath)/secrets/hook-*.secret")
        #expect(files.lines == ["600", "600", "600"], "\(files)")
        #expect(try await belfry.run("token", "rm", "gh").code == 0)
        #expect(try await curl(belfry, "\(good) -d '{}' \(url)").status == "401")
    }

    /// Signed by the package of Standard Webhooks.
    @Test func `starts a job by a standard webhook, once for its id, and not by an old one`() async throws {
        let (belfry, port) = try await start()
        let url = "http://127.0.0.1:\(port)/v1/hooks/deploy"
        let made = try await belfry.run("token", "add", "sw", "--job", "deploy", "--signed", "standard")
        let secret = try #require(made.lines.first)
        #expect(secret.hasPrefix("whsec_"))
        func post(_ id: String, secondsAgo: Int = 0) async throws -> (status: String, text: String) {
            let script = """
                import datetime; from standardwebhooks.webhooks import Webhook
                at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=\(secondsAgo))
                print(int(at.timestamp()), Webhook("\(secret)").sign("\(id)", at, "{}"))
                """
            let signed = try await belfry.run(try PythonTools.interpreter(), ["-c", script])
            let parts = signed.text.split(separator: " ", maxSplits: 1).map { $0.filter { !$0.isNewline } }
            guard parts.count == 2 else { return ("", "\(signed)") }
            return try await curl(
                belfry,
                "-H 'webhook-id: \(id)' -H 'webhook-timestamp: \(parts[0])' "
                    + "-H 'webhook-signature: \(parts[1])' -d '{}' \(url)")
        }
        for _ in 0..<2 {
            let answer = try await post("msg_1")
            #expect(answer.status == "202" && answer.text.contains("deploy#1"), "\(answer)")
        }
        let old = try await post("msg_2", secondsAgo: 400)
        #expect(old.status == "401", "\(old)")
        #expect(try await belfry.json("runs", "deploy").list.count == 1)
    }

    /// Issue 16, 3 and 4: a link preview answers nothing, and whoever presses a button answers once.
    @Test func `answers a question by the link in its notice, once`() async throws {
        let (belfry, port) = try await start("{ address: 127.0.0.1:0, url: 'https://links.example' }")
        let asking = Task {
            try await belfry.run("confirm", "Deploy <b>now</b>?", "--choices", "yes,no", "--after", "30m")
        }
        let link = try await belfry.shell(
            "until grep -oE 'https://links.example/q/[A-Za-z0-9._-]+' notes | head -n 1 | grep .; do :; done")
        let path = try #require(link.lines.first?.trimmingPrefix("https://links.example"))
        let url = "http://127.0.0.1:\(port)\(path)"
        let page = try await curl(belfry, url)
        #expect(page.status == "200" && page.text.contains("Deploy &lt;b&gt;now&lt;/b&gt;?"), "\(page)")
        #expect(page.text.contains(/<p>Open until \d{4}-\d\d-\d\d \d\d:\d\d UTC<\/p>/), "\(page)")
        #expect(!page.text.contains("<script") && page.text.contains("value=\"yes\""))
        // Those who look ahead at a link ask for its head alone.
        let head = try await curl(belfry, "-I \(url)")
        #expect(head.status == "200" && head.text.lowercased().contains("content-type: text/html"), "\(head)")
        #expect(!head.text.contains("Deploy"))
        #expect(try await belfry.json("questions").list.first?["state"].text == "open")
        let forged = try await curl(belfry, "-d answer=yes \(url.dropLast())0")
        #expect(forged.status == "410" && forged.text.contains("The link is not valid."), "\(forged)")
        let other = try await curl(belfry, "-d answer=maybe \(url)")
        #expect(other.status.hasPrefix("4") && other.status != "410", "\(other)")
        let answered = try await curl(belfry, "-d answer=no \(url)")
        #expect(answered.status == "200" && answered.text.contains("no"), "\(answered)")
        let answer = try await asking.value
        #expect(answer.code == 1 && answer.text == "no\n", "\(answer)")
        for words in [url, "-d answer=yes \(url)"] {
            let used = try await curl(belfry, words)
            #expect(used.status == "410" && used.text.contains("by link"), "\(used)")
        }
    }

    @Test func `withdraws the question of a reader that is killed`() async throws {
        let (belfry, port) = try await start()
        let secret = try await token(belfry, "bot", "admin")
        let events = try belfry.events()
        let id = "0192f000-0000-7000-8000-000000000001"
        let asker = try ChildProcess(
            "curl",
            [
                "-sN", "-H", "Authorization: Bearer \(secret)", "-d",
                #"{"id":"\#(id)","text":"Deploy?","choices":["yes","no"]}"#,
                "http://127.0.0.1:\(port)/v1/questions",
            ])
        let asked = try await events.event("question.asked")["subject"].text
        asker.signal(SIGKILL)
        let withdrawn = try await events.event("question.withdrawn")
        #expect(asked == id && withdrawn["subject"].text == id)
    }

    @Test(arguments: [
        ("{ address: 0.0.0.0:8427 }", "tokens would be sent unencrypted"),
        ("{ address: example.org:8427 }", "is not an address with a port"),
        ("{ tls: { certificate: /c, key: /k } }", "an address is missing"),
        ("{ address: 127.0.0.1:1, tls: { certificate: /c } }", "the file of the key is missing"),
        ("{ address: 127.0.0.1:1, tls: { certificate: c, key: /k } }", "the path is not absolute"),
        ("{ address: 127.0.0.1:1, url: 'ftp://x' }", "is not an address that a link can begin with"),
    ])
    func `refuses an address that would be a mistake`(listen: String, sentence: String) async throws {
        let belfry = try Belfry()
        try belfry.write("listen: \(listen)\n", to: "belfry.yaml")
        let check = try await belfry.run("config", "check", "--config", belfry.configPath)
        #expect(check.code == 2 && check.errors.contains(sentence), "\(check)")
    }
}
