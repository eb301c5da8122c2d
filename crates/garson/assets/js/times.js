// Shows how long ago a time was, up to a week; the exact time stays in the title. Without this script it is shown instead.
{
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang, { style: "short" });
  // Offset of the server's clock: the device's may be wrong.
  const offset = Number(document.body.dataset.now) - Date.now();
  const showAgo = () => {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const minutes = Math.floor((Date.now() + offset - Date.parse(time.dateTime)) / 60000);
      const [count, unit] = minutes < 60 ? [minutes, "minute"] : minutes < 1440 ? [minutes / 60, "hour"] : [minutes / 1440, "day"];
      time.textContent = minutes < -1 || minutes >= 10080 ? time.title
        : minutes < 1 ? document.body.dataset.justNow
        : format.format(-Math.floor(count), unit).replace(".", "");
    }
  };
  showAgo();
  setInterval(showAgo, 20000);
  addEventListener("times:changed", showAgo);
}
