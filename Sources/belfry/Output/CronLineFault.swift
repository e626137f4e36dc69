import API
import Cron
import Tracking

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
        // It holds no number but whole ones.
        output += (try? JSON.encode(remark)) ?? []
    }
}
