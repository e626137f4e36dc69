import API
import APIClient
import APIServer
import Delivery
import Host
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `the description of the API` {
    /// `valid`, or what is wrong.
    ///
    /// On a thread of its own: making the environment takes a while.
    private func check(_ document: [UInt8], samples: String) async throws -> String {
        try await blocking { try Self.validate(document, samples) }
    }

    private static func validate(_ document: [UInt8], _ samples: String) throws -> String {
        let folder = try TemporaryFolder()
        try SmallFile.replace(folder.file("openapi.json"), with: document)
        try SmallFile.replace(folder.file("samples.json"), with: Array(samples.utf8))
        let python = try PythonTools.interpreter()
        let script = PythonTools.script("check-openapi.py")
        let code = try Shell.run(
            "cd '\(folder.path)' && '\(python)' '\(script)' openapi.json samples.json > out 2>&1")
        let output = String(decoding: try SmallFile.read(folder.file("out"), limit: 1 << 20), as: UTF8.self)
        return code == 0 ? "valid" : output
    }

    /// A value of each object, as the API writes it.
    private func samples() throws -> String {
        var parts: [String] = []
        func add(_ name: String, _ value: some Encodable) throws {
            parts.append("[\"\(name)\",\(try WireCoding.text(value))]")
        }
        try add("Status", Samples.status)
        try add("Job", Samples.job)
        try add("Run", Samples.run)
        try add("Attempt", Samples.attempt)
        try add("Live", Samples.live)
        try add("Message", Samples.message)
        try add("Item", Samples.item)
        try add("OutboxEntry", Samples.entry)
        try add("Channel", Samples.channel)
        var unpaused = Samples.job
        unpaused.paused = .no
        try add("Job", unpaused)
        unpaused.schedule = WireSchedule(several: [
            unpaused.schedule, WireSchedule(kind: "every", text: "2h"),
        ])
        try add("Job", unpaused)
        var refused = APIError(.badSchedule, hint: "Write another.")
        refused.errors = [WireRemark(kind: "range", field: "hour", range: 3..<5, message: "25 is too much")]
        refused.faults = [WireFault(file: "a", line: 1, column: 2, message: "no", hint: nil)]
        refused.drawing = "^"
        try add("Error", refused)
        let moment = Timestamp(Moment(seconds: 1_793_000_000))
        var recovered = WireEvent(seq: 1, type: "run.recovered", at: moment)
        recovered.data = .object(["outageSeconds": .int(60), "channels": .array([.string("hook")])])
        try add("Event", recovered)
        return "[\(parts.joined(separator: ","))]"
    }

    @Test func `is valid OpenAPI, and true of the objects`() async throws {
        let document = try await House.whileStanding { house in
            try await blocking { try house.client.bytes(Endpoints.openAPI()) }
        }
        #expect(try await check(document, samples: samples()) == "valid")
    }

    @Test func `shows what each kind of event holds, as the facts are read`() throws {
        var document = OpenAPIDocument(of: Endpoints.all, version: "1")
        let schemas = try document.json()["components"]?["schemas"]
        let conditions = schemas?["Event"]?["allOf"]?.elements ?? []
        let described = conditions.compactMap { $0["if"]?["properties"]?["type"]?["const"]?.text }
        #expect(described == EventType.allCases.filter { !$0.payloads.isEmpty }.map(\.rawValue))
        #expect(described.contains("run.failed") && !described.contains("run.started"))
        for condition in conditions {
            let data = condition["then"]?["properties"]?["data"]
            for schema in data?["anyOf"]?.elements ?? [data ?? .null] {
                let name = schema["$ref"]?.text?.split(separator: "/").last.map(String.init) ?? ""
                let members = schemas?[name]?["properties"]
                #expect(members != nil && members != .members([]), "\(name) of \(condition)")
            }
        }
        #expect(schemas?["RecoveryData"]?["required"] == .array([.string("outageSeconds")]))
    }

    @Test func `that is wrong is found`() async throws {
        let broken = Array(#"{"openapi":"3.1.0","info":{"title":"x"},"paths":{}}"#.utf8)
        #expect(try await check(broken, samples: "[]").contains("version"))
        var rows = OpenAPIDocument(of: [Endpoints.bot.row], version: "1")
        #expect(try await check(rows.json().bytes, samples: #"[["Bot",{"name":1}]]"#) != "valid")
        var events = OpenAPIDocument(of: Endpoints.all, version: "1")
        let event =
            #"{"seq":1,"type":"run.recovered","at":"2026-03-03T10:00:00Z","data":{"outageSeconds":"x"}}"#
        #expect(try await check(events.json().bytes, samples: #"[["Event",\#(event)]]"#) != "valid")
    }
}
