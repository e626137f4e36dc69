/// The little arithmetic that estimates need; the standard library has none, and these targets use no other.
enum Statistics {
    /// The middle of `values`, or the mean of the two middle ones.
    ///
    /// Sorts them. `values` is not empty.
    static func median(_ values: inout [Double]) -> Double {
        values.sort()
        let middle = values.count / 2
        return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    }

    /// The value below which `part` (0...1) of the sorted `values` lie, between neighbours evenly.
    ///
    /// Placed as if one more value were to come, so that it holds for the next one too.
    static func quantile(_ part: Double, of values: [Double]) -> Double {
        let place = min(max(part * Double(values.count + 1) - 1, 0), Double(values.count - 1))
        let index = min(Int(place), values.count - 1)
        let next = min(index + 1, values.count - 1)
        return values[index] + (values[next] - values[index]) * (place - Double(index))
    }
}

extension Double {
    /// The natural logarithm of a number above zero.
    ///
    /// By the exponent of the number and a series for what is left of it, good to 1e-14.
    static func log(_ number: Double) -> Double {
        var fraction = number.significand
        var exponent = Double(number.exponent)
        if fraction > 1.414_213_562_373_095 {
            fraction /= 2
            exponent += 1
        }
        let ratio = (fraction - 1) / (fraction + 1)
        let square = ratio * ratio
        var term = ratio
        var sum = 0.0
        for odd in stride(from: 1.0, through: 21, by: 2) {
            sum += term / odd
            term *= square
        }
        return 2 * sum + exponent * 0.693_147_180_559_945_3
    }

    /// e to the power of `number`, for numbers within -700...700.
    ///
    /// By whole powers of two and a series for the rest, good to 1e-14.
    static func exp(_ number: Double) -> Double {
        let power = (number / 0.693_147_180_559_945_3).rounded()
        let rest = number - power * 0.693_147_180_559_945_3
        var term = 1.0
        var sum = 1.0
        for step in 1...14 {
            term *= rest / Double(step)
            sum += term
        }
        return Double(sign: .plus, exponent: Int(power), significand: sum)
    }
}
