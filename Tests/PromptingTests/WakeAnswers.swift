import Prompting
import Testing

@Suite struct `what a wake script prints` {
    @Test(arguments: [
        ("", WakeAnswer.sleep(reason: nil)), (" \n\n", .sleep(reason: nil)),
        ("two new mails\n", .wake(data: "two new mails")),
        ("\n a\n\nb \n", .wake(data: "a\n\nb")),
        (#"{"wakeAgent": false}"#, .sleep(reason: nil)),
        ("log\n{\"wakeAgent\":false,\"reason\":\"no\\nmail\"}\n\n", .sleep(reason: "no mail")),
        ("log\n{\"wakeAgent\":true}\n", .wake(data: nil)),
        (#"{"wakeAgent":true,"data":null}"#, .wake(data: nil)),
        (#"{"wakeAgent":true,"data":"as it is"}"#, .wake(data: "as it is")),
        (
            #"{"wakeAgent":true,"data":{"a":[1,{"b":"<c>"}],"d":[]}}"#,
            .wake(
                data: """
                    {
                      "a": [
                        1,
                        {
                          "b": "<c>"
                        }
                      ],
                      "d": []
                    }
                    """)
        ),
        (#"{"wakeAgent":"yes"}"#, .unreadable("its last line must have \"wakeAgent\": true or false")),
        (#"{"count": 3}"#, .wake(data: #"{"count": 3}"#)),
        ("{broken", .wake(data: "{broken")),
    ])
    func `decides whether the bot is asked, and with what`(printed: String, answer: WakeAnswer) {
        #expect(WakeAnswer(Array(printed.utf8)) == answer)
    }

    @Test func `stands before what is to be done with it`() {
        #expect(
            WakeAnswer.prompt("Sum up.", data: "a\nb") == "Script output:\na\nb\n\nInstructions:\nSum up.")
        #expect(WakeAnswer.prompt("Sum up.", data: nil) == "Sum up.")
    }

    @Test func `may be any bytes`() {
        #expect(WakeAnswer([0xFF, 0x0A, 0xFE]) == .wake(data: "\u{FFFD}\n\u{FFFD}"))
    }
}
