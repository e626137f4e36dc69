import API
import APIServer
import Engine
import Testing

@Suite struct `the table of errors` {
    @Test func `numbers every error once, as E and four digits`() {
        let numbers = ErrorCode.allCases.map(\.rawValue)
        #expect(Set(numbers).count == numbers.count)
        for number in numbers {
            #expect(number.count == 5 && number.first == "E" && number.dropFirst().allSatisfy(\.isNumber))
        }
    }

    @Test func `gives every error a status, a sentence and an exit code of the contract`() {
        for code in ErrorCode.allCases {
            #expect((400...599).contains(code.row.status), "\(code)")
            #expect((1...6).contains(code.row.exitCode), "\(code)")
            #expect(code.row.sentence.first?.isLowercase == true, "\(code)")
            #expect(code.row.sentence.last != ".", "\(code)")
        }
    }

    @Test(arguments: [
        (ErrorKind.notFound, Int32(4)), (.refused, 5), (.expired, 6), (.noDaemon, 3), (.badConfig, 2),
    ])
    func `exits alike for all errors of a kind`(kind: ErrorKind, exitCode: Int32) {
        let rows = ErrorCode.allCases.map(\.row).filter { $0.kind == kind }
        #expect(!rows.isEmpty)
        #expect(rows.allSatisfy { $0.exitCode == exitCode })
    }

    @Test func `quotes at most 60 characters of what a person wrote`() {
        let (fits, long) = (String(repeating: "a", count: 60), String(repeating: "a", count: 5000))
        #expect(APIError(EngineError.noSuchMessage(fits)).message == "no message \"\(fits)\"")
        #expect(APIError(EngineError.noSuchMessage(long)).message == "no message \"\(fits.dropLast())…\"")
        let coloured = "\u{1B}[31mzz\u{7}\u{202E}\r\n\u{9B}2Jy  x"
        #expect(APIError(EngineError.noSuchBot(coloured)).message == "no bot \"zz y  x\"")
    }

    @Test func `draws what is wrong with a schedule, and nothing else`() {
        let drawn = APIError(EngineError.badSchedule(drawing: "0 25 * * *\n  ^^ hour"))
        #expect(drawn.code == .badSchedule && drawn.sentence.hasSuffix(":\n0 25 * * *\n  ^^ hour"))
        let several = APIError(EngineError.invalid("one\ntwo"))
        #expect(several.code == .badValue && several.message == "one two" && several.drawing == nil)
    }

    @Test func `shows what to do about a gateway as it is said`() {
        let hint = "Run: openclaw devices list"
        #expect(APIError(EngineError.gateway("opta: it did not answer", hint: hint)).hint == hint)
        #expect(APIError(EngineError.gateway("opta: it did not answer", hint: nil)).hint == nil)
    }

    @Test func `has a code for what an engine that stops refuses`() {
        #expect(APIError(EngineError.stopping).code == .stopping)
    }

    @Test func `prints the contract's example as the contract does`() throws {
        let error = APIError(.noSuchJob, "no job \"bakcup\"", hint: "Did you mean \"backup\"?")
        #expect(error.sentence == "no job \"bakcup\". Did you mean \"backup\"?")
        #expect(
            try WireCoding.text(error)
                == #"{"error":{"code":"E1203","hint":"Did you mean \"backup\"?","kind":"notFound","#
                + #""message":"no job \"bakcup\""}}"#)
    }

    @Test(arguments: ErrorCode.allCases)
    func `crosses the wire unchanged`(code: ErrorCode) throws {
        let error = APIError(code, hint: "Do this.")
        #expect(try WireCoding.decode(APIError.self, from: WireCoding.encode(error)) == error)
    }
}
