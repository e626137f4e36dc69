import Glibc
import Host
import Testing
import Timeline

@Suite struct `the process table` {
    @Test func `reads a name with blanks and brackets`() throws {
        let line = "42 (a) S 1 (b)) T 7 40 39 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0"
        let entry = try #require(ProcessEntry(stat: Array(line.utf8)))
        #expect(
            entry
                == ProcessEntry(
                    pid: 42, parent: 7, group: 40, session: 39, startTime: 98765, state: UInt8(ascii: "T")))
    }

    @Test(arguments: ["", "42", "42 (x", "42 (x) S 1", ") 42 ("])
    func `takes nothing from a broken line`(line: String) {
        #expect(ProcessEntry(stat: Array(line.utf8)) == nil)
    }

    @Test func `knows this process, by id and start time`() throws {
        let me = try #require(ProcessTable.entry(getpid()))
        #expect(me.parent == getppid())
        #expect(try ProcessTable.all().contains { $0.pid == me.pid && $0.startTime == me.startTime })
        #expect(ProcessTable.isAlive(pid: me.pid, startTime: me.startTime))
        #expect(!ProcessTable.isAlive(pid: me.pid, startTime: me.startTime + 1))
    }
}

@Suite struct `unique ids` {
    @Test func `of version 7 sort by their moment`() {
        let start = Moment(seconds: 1_790_000_000)
        let ids = (0..<1000).map { UniqueID.v7(at: start + .microseconds($0)) }
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == 1000)
        #expect(ids[0].hasPrefix("01a0c450-6c00-7000-"))
    }

    @Test func `hold their version and variant`() {
        for _ in 0..<100 {
            let random = Array(UniqueID.v4())
            let timed = Array(UniqueID.v7(at: Moment(seconds: 1)))
            #expect(random.count == 36 && timed.count == 36)
            #expect(random[14] == "4" && timed[14] == "7")
            #expect("89ab".contains(random[19]) && "89ab".contains(timed[19]))
        }
    }

    @Test func `of a boot are the kernel's`() throws {
        let id = try Machine.bootID()
        #expect(id.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(try Machine.bootID() == id)
    }
}
