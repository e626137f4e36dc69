import Glibc
import Host
import Testing

@Suite struct `the children of a thread` {
    @Test func `are listed from their start until they are collected`() throws {
        let children = try #require(ChildList())
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        var pids: [Int32] = []
        for _ in 0..<5 {
            let program = ChildProgram(
                path: "/bin/true", arguments: ["true"], environment: [:], descriptors: [nothing])
            pids.append(try program.start())
        }
        #expect(Set(try #require(children.read())).isSuperset(of: pids))
        // Also when no id comes whole.
        #expect(Set(try #require(children.read(bytesAtATime: 3))).isSuperset(of: pids))
        for pid in pids { #expect(waitpid(pid, nil, 0) == pid) }
        #expect(Set(try #require(children.read())).isDisjoint(with: pids))
    }
}

@Suite struct `the environment of a program` {
    @Test func `is its own variables, and of the shared ones those it does not name`() throws {
        let shared = ChildEnvironment.Shared(["SHARED": "a=b", "BOTH": "shared", "EMPTY": ""])
        let environment = ChildEnvironment(["BOTH": "own", "OWN": "c"], sharing: shared)
        #expect(environment["SHARED"] == "a=b" && environment["BOTH"] == "own" && environment["NONE"] == nil)
        let pipe = try Descriptor.pipe(nonblockingRead: false)
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let program = ChildProgram(
            path: "/usr/bin/env", arguments: ["env"], environment: environment,
            descriptors: [nothing, pipe.write])
        let pid = try program.start()
        #expect(waitpid(pid, nil, 0) == pid)
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard case .bytes(let count) = try pipe.read.read(into: &buffer) else {
            Issue.record("it printed nothing")
            return
        }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        #expect(lines.sorted() == ["BOTH=own", "EMPTY=", "OWN=c", "SHARED=a=b"])
    }
}
