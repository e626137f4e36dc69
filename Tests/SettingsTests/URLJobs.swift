import Ledger
import Settings
import Testing
import Timeline

@Suite struct `a job that calls an address` {
    private func read(_ url: String) throws(SettingsError) -> URLAction? {
        let reader = ConfigurationReader(hostZone: "UTC", zone: { _ in .utc }, readSecret: { _ in "" })
        let text = "jobs:\n  a: { schedule: manual, url: \(url) }\n"
        return try reader.read(SourceText(name: "belfry.yaml", text: text)).jobs.first?.spec.request
    }

    @Test func `is written as the address alone`() throws {
        let request = try #require(try read("https://example.org/hook"))
        #expect(request == URLAction(url: "https://example.org/hook"))
        #expect(request.effectiveMethod == "GET" && request.expectedStatuses == [200...299])
    }

    @Test func `is written as a map with all that is sent, and what is expected`() throws {
        let request = try #require(
            try read(
                """
                { url: "http://127.0.0.1:80/x", headers: { Accept: text/plain, Authorization: { file: /t } }, \
                body: "{}", expect: [204, 3xx, 400-404], allow: [127.0.0.1/32] }
                """))
        #expect(request.effectiveMethod == "POST" && request.body == "{}")
        #expect(
            request.headers == ["Accept": "text/plain"] && request.secretFiles == ["Authorization": "/t"])
        #expect(request.expectedStatuses == [204...204, 300...399, 400...404])
        #expect(try read("{ url: \"https://e.org\", expect: 200 }")?.expectedStatuses == [200...200])
    }

    @Test(arguments: [
        ("ftp://example.org/", ":2:31: jobs.a.url: the address must begin with https://"),
        ("http://example.org/", ":2:31: jobs.a.url: plain http goes only to hosts that url.allow names"),
        ("https://10.0.0.1/", "jobs.a.url: 10.0.0.1 is not a public address; write url: { url: ADDRESS,"),
        ("https://me:pw@example.org/", "jobs.a.url: a name or password in the address would be readable"),
        ("{ method: PUT }", "jobs.a.url: no url; write url: { url: https://example.org/hook"),
        ("{ url: https://e.org, methd: PUT }", "unknown key \"methd\"; did you mean \"method\"?"),
        ("{ url: https://e.org, method: FETCH }", "jobs.a.url.method: \"FETCH\" is not known here"),
        ("{ url: https://e.org, expect: ok }", "jobs.a.url.expect: \"ok\" is not a status; write one as 200"),
        ("{ url: https://e.org, expect: [] }", "jobs.a.url.expect: can't be empty"),
        ("{ url: https://e.org, allow: [a/b] }", "jobs.a.url.allow: "),
        ("{ url: https://e.org, headers: { a b: x } }", "\"a b\" is not the name of a header"),
        ("{ url: https://e.org, headers: { Content-Length: 3 } }", "Belfry sets this header itself"),
        ("{ url: https://e.org, headers: { A: \"x\\ny\" } }", "the value of a header is one line of text"),
        ("https://e.org, shell: date", "a job has one of command, shell, prompt and url, not two"),
    ])
    func `is refused at the place of its fault`(url: String, message: String) {
        let refused = #expect(throws: SettingsError.self) { try read(url) }
        #expect(refused?.description.contains(message) == true, "\(refused?.description ?? "")")
        #expect(refused?.description.contains("pw@") != true)
    }
}
