import API
import APIClient
import Delivery
import Engine
import FoundationEssentials
import Grouping
import Host
import Ledger
import LedgerSQLite
import Prompting
import TestSupport
import Testing
import Timeline

@testable import APIServer

@Suite struct `talk and delivery over the socket` {
    @Test(arguments: [["messages", "show", ""], ["read", " "]])
    func `a message without an id is refused by the command line`(words: [String]) async throws {
        try await House.whileStanding { house in
            let answer = try await house.belfry(words)
            #expect(answer.status == 2 && answer.errors.contains("the id of a message is empty"), "\(answer)")
        }
    }

    @Test func `what is said to a bot under one id twice is said once`() async throws {
        try await House.whileStanding { house in
            house.control.activeConfiguration.change {
                $0.bots = ["sage": BotProfile(name: "sage", contact: BotInUse(nil))]
            }
            var request = SayRequest(text: "hello")
            request.id = "0199c0de-0000-7000-8000-000000000001"
            let said = try await blocking { [request] in
                try (0..<2).map { _ in try house.client.ask(Endpoints.say("sage", body: request)) }
            }
            #expect(said.map(\.id) == [request.id, request.id] && said.first?.from == "user")
            let listed = try await house.belfry("messages", "sage", "--json")
            #expect(try WireCoding.decode([WireMessage].self, from: listed.output.utf8).count == 1)
            request.id = "not-an-id"
            let refused = try await blocking { [request] in
                #expect(throws: APIError.self) { try house.client.ask(Endpoints.say("sage", body: request)) }
            }
            #expect(refused?.code == .badValue)
            let other = try await house.belfry("send", "sage", "x", "--reply-to", "00000000")
            #expect(other.status == 4)
        }
    }

    @Test func `a search says whether its hits are ranked, or the newest of very many`() async throws {
        try await House.whileStanding { house in
            let start = Moment(seconds: 1_800_000_000)
            for first in stride(from: 0, to: 10_002, by: 2000) {
                try await house.control.ledger.commit(
                    (first..<min(first + 2000, 10_002)).map { number in
                        let text = number == 5 ? "the tape and the disk" : "disk"
                        return .insertMessage(
                            MessageRecord(
                                message: Message(
                                    id: UniqueID.v7(at: start + .seconds(number)), bot: "ops", thread: "main",
                                    text: text, at: start + .seconds(number))))
                    })
            }
            func search(_ text: String) async throws -> (orders: [SearchOrder?], note: String) {
                let words = ["messages", "--search", text, "--limit", "2"]
                let listed = try await house.belfry(words + ["--json"])
                let messages = try WireCoding.decode([WireMessage].self, from: listed.output.utf8)
                return (messages.map(\.order), try await house.belfry(words).errors)
            }
            let (many, few) = (try await search("disk"), try await search("tape disk"))
            #expect(many.orders == [.newest, .newest])
            #expect(many.note == "More than 10,000 messages match; these are the newest.\n")
            #expect(few.orders == [.ranked] && few.note.isEmpty)
        }
    }

    @Test func `messages are sent, listed, searched and read`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry(
                "notify", "The tape is full", "--bot", "ops", "--thread", "tape", "--urgency", "critical")
            _ = try await house.belfry("notify", "Anything else", "--bot", "desk")
            let found = try await house.belfry("messages", "--search", "TAPE", "--json")
            let messages = try WireCoding.decode([WireMessage].self, from: found.output.utf8)
            #expect(messages.map(\.text) == ["The tape is full"])
            #expect(messages.first?.bot == "ops" && messages.first?.thread == "tape")
            #expect(messages.first?.read == false && messages.first?.from == "bot")
            let bots = try await house.belfry("bot", "list", "--json")
            let unread = try WireCoding.decode([WireBot].self, from: bots.output.utf8)
            #expect(unread.first { $0.name == "ops" }?.unread == 1)
            #expect(unread.first { $0.name == "ops" }?.lastMessage?.text == "The tape is full")
            let ops = try await house.belfry("bot", "show", "ops")
            #expect(ops.output.contains("The tape is full"))

            #expect(try await house.belfry("read", messages.first?.id ?? "").status == 0)
            let read = try await house.belfry("messages", "ops", "--json")
            #expect(try WireCoding.decode([WireMessage].self, from: read.output.utf8).first?.read == true)
            #expect(try await house.belfry("read", "none").status == 4)
            #expect(try await house.belfry("notify", " ").status == 2)
            #expect(try await house.belfry("notify", "x", "--urgency", "loud").status == 2)
            let badIcon = try await house.belfry("notify", "x", "--icon", "di\nsk")
            #expect(badIcon.status == 2 && badIcon.errors.contains("icon contains a control character"))
            let nowhere = try await house.belfry("notify", "x", "--icon", "./disk.png")
            #expect(nowhere.status == 2)
            #expect(
                nowhere.errors.contains("icon is neither an icon's name nor an absolute path. Send an icon's")
            )
            #expect(try await house.belfry("bot", "show", "dsek").errors.contains("Did you mean \"desk\"?"))
        }
    }

    @Test func `a message is shown whole, by as much of its id as it takes`() async throws {
        try await House.whileStanding { house in
            let text = "the tape\n  is \u{1B}[31mfull\u{1B}[0m\n" + String(repeating: "word ", count: 200)
            let posted = try await house.belfry("notify", text, "--bot", "ops", "--title", "Tape", "--json")
            let id = try WireCoding.decode(WireMessage.self, from: posted.output.utf8).id
            let listed = try await house.belfry("messages").output
            #expect(listed.contains(id.suffix(8)) && !listed.contains(id))
            for name in [id, String(id.suffix(8)), String(id.prefix(4))] {
                let shown = try await house.belfry("messages", "show", name)
                #expect(shown.status == 0, "\(name): \(shown.errors)")
                #expect(shown.output.contains("\n\nthe tape\n  is full\nword word"))
                #expect(shown.output.split(separator: "word", omittingEmptySubsequences: false).count == 201)
                #expect(shown.output.contains(id) && shown.output.contains("Tape"))
            }
            let json = try await house.belfry("messages", "show", String(id.suffix(8)), "--json")
            #expect(try WireCoding.decode(WireMessage.self, from: json.output.utf8).text == text)
            #expect(try await house.belfry("messages", "ops", "--limit", "1").output == listed)
            #expect(try await house.belfry("read", String(id.suffix(8))).status == 0)
            let missing = try await house.belfry("messages", "show", "ffffffff")
            #expect(missing.status == 4)
            #expect(missing.errors == "belfry: no message \"ffffffff\". See: belfry messages\n")
        }
    }

    @Test func `a short id of several messages is refused with all of them`() async throws {
        try await House.whileStanding { house in
            var ids: [String] = []
            for text in ["one", "two"] {
                let posted = try await house.belfry("notify", text, "--bot", "ops", "--json")
                ids.insert(try WireCoding.decode(WireMessage.self, from: posted.output.utf8).id, at: 0)
            }
            let start = String(ids[0].prefix(4))
            for command in [["messages", "show"], ["read"], ["why"]] {
                let refused = try await house.belfry(command + [start])
                #expect(refused.status == 2)
                #expect(
                    refused.errors == """
                        belfry: the short id "\(start)" matches several; write more of it:
                          \(ids[0])  message of ops: two
                          \(ids[1])  message of ops: one

                        """)
            }
            let json = try await house.belfry("messages", "show", start, "--json")
            #expect(json.errors.contains(#""code":"E1210""#) || json.output.contains(#""code":"E1210""#))
        }
    }

    @Test func `text of others can't move the cursor`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("notify", "a\u{1B}[2Jb\rc\u{202E}d")
            let list = try await house.belfry("messages")
            #expect(list.output.contains("ab cd"))
            #expect(!list.output.contains("\u{1B}") && !list.output.contains("\r"))
        }
    }

    @Test func `entries are listed, retried and discarded`() async throws {
        try await House.whileStanding { house in
            let now = Moment(seconds: 1_774_746_000)
            for (id, state) in [("e1", OutboxState.pending), ("e2", .delivered)] {
                let entry = OutboxRecord(
                    id: id, channel: "hook", cause: "event:1:\(id)", type: "run.failed", reason: "failed",
                    state: state,
                    createdAt: now, nextAt: state == .pending ? now : nil, body: [])
                try await house.ledger.commit([.insertOutbox(entry)])
            }
            let list = try await house.belfry("outbox", "list", "--state", "pending", "--json")
            let entries = try WireCoding.decode([WireOutboxEntry].self, from: list.output.utf8)
            #expect(entries.map(\.id) == ["e1"])
            #expect(try await house.belfry("outbox", "--json").output.contains("\"e2\""))
            let table = try await house.belfry("outbox").output.split(separator: "\n")
            let waiting = try #require(table.first { $0.contains("  pending") })
            #expect(waiting.contains("its channel is not in the configuration"), "\(waiting)")
            let delivered = try #require(table.first { $0.contains("  delivered") })
            #expect(delivered.hasSuffix("e2  ") || delivered.hasSuffix("e2"))
            #expect(try await house.belfry("outbox", "discard", "e1").output == "e1 is discarded.\n")
            #expect(try await house.belfry("outbox", "retry", "e2").status == 5)
            #expect(try await house.belfry("outbox", "retry", "e3").status == 4)
            #expect(try await house.belfry("outbox", "list", "--state", "x").status == 2)
        }
    }

    @Test func `an entry that goes before all others is due when it was made, not before there was time`() {
        let record = OutboxRecord(
            id: "e1", channel: "hook", cause: "event:1:hook", type: "test", reason: "asked", state: .pending,
            createdAt: Moment(seconds: 1_774_746_000), nextAt: Moment(seconds: 0), body: [])
        let entry = WireOutboxEntry(record, isSending: false, wait: nil)
        #expect(entry.nextAt == entry.createdAt)
    }

    @Test func `a daemon is chosen by its configuration`() async throws {
        try await House.whileStanding { house in
            let own = house.folder.file("belfry.yaml")
            #expect(try await house.belfry("status", "--config", own).status == 0)
            let other = try await house.belfry("status", "--config", "/nowhere/belfry.yaml")
            #expect(other.status == 3)
            #expect(other.errors.contains("no daemon runs with /nowhere/belfry.yaml"))
            let both = try await house.belfry("status", "--system", "--socket", "/x")
            #expect(both.status == 2 && both.errors.contains("exclude each other"))
        }
    }

    @Test func `a status names what needs attention, by which the doctor does not fail`() async throws {
        try await House.whileStanding { house in
            let answer = try await house.belfry("status", "--json")
            let status = try WireCoding.decode(WireStatus.self, from: answer.output.utf8)
            #expect(status.version == "0.0.0-test" && status.jobs == 0)
            #expect(status.problems.contains { $0.kind == "noConfiguration" })
            #expect(try await house.belfry("status").output.contains("outbox   0 pending, 0 dead"))
            #expect(try await house.belfry("doctor").status == 0)
            #expect(try await house.belfry("channel", "list", "--json").output == "[]\n")
            #expect(try await house.belfry("channel", "test", "hook").status == 4)
            let config = try await house.belfry("config", "show", "--json")
            #expect(try WireCoding.decode(WireConfig.self, from: config.output.utf8).zone == "UTC")
        }
    }
}
