import Testing
import Tracking

@testable import TestSupport

/// What the emulated gateway refuses: frames and parameters that the real one refuses as well.
@Suite struct `the schemas of the emulated gateway` {
    private static func connect(
        _ id: String = "gateway-client", _ mode: String = "backend", more: String = ""
    )
        -> String
    {
        #"{"minProtocol":3,"maxProtocol":4,"client":{"id":"\#(id)","version":"1","platform":"linux","mode":"\#(mode)"}\#(more)}"#
    }

    private static func job(_ schedule: String, _ payload: String) -> String {
        #"{"name":"x","schedule":\#(schedule),"sessionTarget":"main","wakeMode":"now","payload":\#(payload)}"#
    }

    private static let hourly = #"{"kind":"cron","expr":"0 * * * *"}"#
    private static let note = #"{"kind":"systemEvent","text":"x"}"#

    @Test(arguments: [
        ("connect", connect(), connect("gateway-client", "operator")),
        ("connect", connect(), connect("ios-node")),
        ("connect", connect(), connect(more: #","extra":1"#)),
        ("chat.history", #"{"sessionKey":"main","limit":50}"#, #"{"sessionKey":"main","before":50}"#),
        ("sessions.patch", #"{"key":"main","label":"x"}"#, #"{"sessionKey":"main","patch":{"label":"x"}}"#),
        ("cron.update", #"{"id":"j","patch":{"enabled":false}}"#, #"{"id":"j","enabled":false}"#),
        ("cron.status", "{}", #"{"jobId":"j"}"#),
        ("cron.add", job(hourly, note), job(#"{"kind":"cron","expression":"0 * * * *"}"#, note)),
        ("cron.add", job(hourly, note), job(#""0 * * * *""#, note)),
        ("cron.add", job(hourly, note), job(hourly, #"{"kind":"systemEvent","message":"x"}"#)),
    ])
    func `take the good form of parameters and refuse the bad one`(
        method: String, good: String, bad: String
    ) {
        for version in [3, 4] {
            #expect(GatewaySchemas.fault(in: json(good), of: method, version: version) == nil)
            #expect(GatewaySchemas.fault(in: json(bad), of: method, version: version) != nil)
        }
    }

    @Test func `refuse a trace's name in the older version only`() {
        let frame = json(#"{"type":"req","id":"1","method":"health","traceparent":"00-1-2-01"}"#)
        #expect(GatewaySchemas.fault(inRequest: frame, version: 3) == "unexpected property traceparent")
        #expect(GatewaySchemas.fault(inRequest: frame, version: 4) == nil)
    }
}
