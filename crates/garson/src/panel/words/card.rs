//! What an order's card says about items, payment and times.

super::text_set::text_set! {
    CardWords {
        left_out: "olmasın" | "leave out",
        more_lines: "satır daha" | "more lines",
        collect_cash: "Nakit tahsil et" | "Collect cash",
        collect_card: "Kartla tahsil et" | "Collect by card",
        collect_meal_card: "Yemek kartıyla tahsil et" | "Collect by meal card",
        collect_other: "Kapıda tahsil et" | "Collect at the door",
        courier_collects: "kurye tahsil eder" | "collected by the courier",
        paid: "Ödendi" | "Paid",
        total: "Toplam" | "Total",
        promised: "Söz verilen saat" | "Promised for",
        courier_pickup: "Kurye gelişi" | "Courier arrives",
        pickup_code: "Teslim kodu" | "Pickup code",
        no_cutlery: "Çatal-bıçak istemiyor" | "No cutlery",
        sold_out: "Tükendi" | "Sold out",
    }
}
