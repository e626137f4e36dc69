import API
import Prompting
import Testing
import Tracking

@testable import APIServer

@Suite struct `a tool that is added` {
    private static let echo = BotTool(
        "echo", "Repeats a word.",
        [
            ToolParameter("word", .text(limit: 20), "What is repeated.", isRequired: true),
            ToolParameter("times", .whole(1...9), "How often."),
        ]
    ) { request in
        Array(repeating: request.arguments.text("word") ?? "", count: request.arguments.whole("times") ?? 1)
            .joined(separator: " ")
    }

    private let table = ToolTable(ToolTable.standard.tools + [echo])

    @Test func `may be named by the configuration, and is described to providers`() throws {
        #expect(table.names.contains("echo") && !ToolTable.standard.names.contains("echo"))
        let offer = try #require(table["echo"]?.offer)
        #expect(offer.name == "echo" && offer.about == "Repeats a word.")
        #expect(offer.arguments["required"] == .array([.string("word")]))
        #expect(offer.arguments["additionalProperties"] == .bool(false))
        #expect(offer.arguments["properties"]?["times"]?["maximum"]?.int == 9)
    }

    @Test(
        arguments: [
            (#"{"word":"a","times":3}"#, nil), (#"{"word":"a"}"#, nil), (#"{"times":3}"#, "word: is missing"),
            (#"{"word":" "}"#, "word: is empty"),
            (#"{"word":"a","times":10}"#, "times: is not a whole number from 1 to 9"),
            (#"{"word":"a","time":3}"#, "there is no argument \"time\""),
            (#"["a"]"#, "the arguments are not an object"),
        ] as [(String, String?)])
    func `is called with arguments of its form alone`(text: String, fault: String?) throws {
        let tool = try #require(table["echo"])
        let arguments = try #require(JSON(parsing: Array(text.utf8)[...]))
        let error = { () -> APIError? in
            do throws(APIError) {
                _ = try tool.read(arguments)
                return nil
            } catch {
                return error
            }
        }()
        #expect(error?.message.hasPrefix(fault ?? "-") ?? (fault == nil), "\(String(describing: error))")
    }
}
