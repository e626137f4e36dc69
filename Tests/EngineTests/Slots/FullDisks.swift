import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `a disk that is full` {
    @Test(.enabled("needs the right to mount a file system") { await SmallDisk.mayMount() })
    func `delays slots, loses none, and refuses what people ask`() async throws {
        let disk = try SmallDisk(megabytes: 16)
        try await SlotScene.run(in: disk.folder, at: at("10:00:00")) { scene in
            try await scene.put(.cron("one", "0 * * * * *"), .cron("two", "0 * * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
            try disk.fill()
            scene.clock.advance(to: at("10:01:00"))
            // Asks again a second later, then two.
            try await scene.sleeps(until: at("10:01:01"))
            await #expect(throws: EngineError.ledger(.full)) {
                try await scene.keeper.change([.remove("one")])
            }
            #expect(try await scene.ledger.runs(RunFilter()).isEmpty)
            scene.clock.advance(to: at("10:01:10"))
            try disk.free()
            try await scene.settled()
            for job in ["one", "two"] {
                #expect(try await scene.slots(of: job) == [at("10:01:00")])
                #expect(try await scene.spans(of: job).isEmpty)
            }
            scene.clock.advance(to: at("10:02:00"))
            try await scene.settled()
            #expect(try await scene.spans(of: "one") == ["skipped overlap 10:02:00-10:02:00 x1"])
        }
    }

    @Test(.enabled("needs the right to mount a file system") { await SmallDisk.mayMount() })
    func `shows that slots are late, and records them as soon as there is room`() async throws {
        let disk = try SmallDisk(megabytes: 16)
        try await SlotScene.run(in: disk.folder, at: at("10:00:00")) { scene in
            try await scene.put(.cron("one", "0 * * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
            try disk.fill()
            #expect(await scene.keeper.summary().late == nil)
            let tries = ["10:01:00", "10:01:01", "10:01:03", "10:01:06"]
            for (time, next) in zip(tries, tries.dropFirst()) {
                scene.clock.advance(to: at(time))
                try await scene.sleeps(until: at(next))
            }
            #expect(await scene.keeper.summary().late == at("10:01:00"))
            try disk.free()
            // Whoever writes first finds that there is room: nobody waits for 10:01:06.
            try await scene.ledger.commit([.setFact(name: "touched", value: "now")])
            while try await scene.ledger.runs(RunFilter()).isEmpty { try Task.checkCancellation() }
            #expect(try await scene.slots(of: "one") == [at("10:01:00")])
            #expect(scene.clock.now == at("10:01:03"))
            #expect(await scene.keeper.summary().late == nil)
        }
    }
}
