//! Payments.

super::text_set::text_set! {
    PaymentWords {
        title: "Ödemeler" | "Payments",
        lead: "Ödeme türüne ve güne göre toplamlar; iptal edilen siparişler sayılmaz." | "Totals by payment type and day; cancelled orders are not counted.",
        restaurant: "Restoran" | "Restaurant",
        from: "Başlangıç tarihi" | "Start date",
        to: "Bitiş tarihi" | "End date",
        show: "Göster" | "Show",
        periods: "Dönem" | "Period",
        last_7: "Son 7 gün" | "Last 7 days",
        last_30: "Son 30 gün" | "Last 30 days",
        this_month: "Bu ay" | "This month",
        last_month: "Geçen ay" | "Last month",
        invalid_period: "Bu dönem gösterilemez: bitiş tarihi başlangıçtan önce olamaz, en çok 62 gün seçilebilir. Son 7 gün gösteriliyor." | "This period cannot be shown: the end date must not be before the start date, and at most 62 days can be chosen. The last 7 days are shown.",
        chart: "Günlük toplamlar" | "Totals by day",
        chart_hint: "Aynı sayılar aşağıdaki tabloda." | "The table below has the same numbers.",
        by_type: "Ödeme türüne göre" | "By payment type",
        by_day: "Güne göre" | "By day",
        day: "Gün" | "Day",
        count: "Sipariş" | "Orders",
        total: "Toplam" | "Total",
        empty_title: "Bu dönemde sipariş yok" | "No orders in this period",
        empty_text: "Başka bir dönem ya da restoran seçin." | "Choose another period or restaurant.",
    }
}
