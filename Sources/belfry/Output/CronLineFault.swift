import API
import Cron

/// Why a line of `--stdin` is refused, and how that is written.
struct CronLineFault: Error {
    /// The places are those in the expression, except where the kind says otherwise.
    let remarks: [CronAnswer.Remark]

    init(_ faults: [CronFault]) { remarks = faults.map { CronAnswer.Remark($0) } }

    init(_ kind: String, _ range: Range<Int>, _ message: String, fix: String? = nil) {
        remarks = [CronAnswer.Remark(kind: kind, range: range, message: message, fix: fix)]
    }

    /// Appends `{"id":...,"error":{...}}` and a line end; `errors` too where there are several.
    func write(id: [UInt8]?, into output: inout [UInt8]) {
        output += "{\"id\":".utf8
        output += id ?? CronRequest.null
        for (name, shown) in [("error", remarks.prefix(1)), ("errors", remarks[...])] {
            if name == "errors" && remarks.count < 2 { continue }
            output += ",\"\(name)\":".utf8
            if name == "errors" { output.append(UInt8(ascii: "[")) }
            for (place, remark) in shown.enumerated() {
                if place > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(remark, into: &output)
            }
            if name == "errors" { output.append(UInt8(ascii: "]")) }
        }
        output += "}\n".utf8
    }

    /// Appends the JSON object of a warning or an error.
    static func write(_ remark: CronAnswer.Remark, into output: inout [UInt8]) {
        output += "{\"kind\":".utf8
        quote(remark.kind, into: &output)
        if let field = remark.field {
            output += ",\"field\":".utf8
            quote(field, into: &output)
        }
        output += ",\"start\":\(remark.start),\"end\":\(remark.end),\"message\":".utf8
        quote(remark.message, into: &output)
        if let fix = remark.fix {
            output += ",\"fix\":".utf8
            quote(fix, into: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    private static func quote(_ text: String, into output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                output += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
